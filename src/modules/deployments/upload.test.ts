import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mimeTypeOf } from '../../domain/content-type.ts'
import { deploymentRef } from '../../domain/hostname.ts'
import { zip } from '../../platform/archive/zip.fixture.ts'
import {
  archive,
  type Content,
  DOCS,
  fieldParts,
  fileParts,
  form,
  QUERY,
  SHA,
  SITE,
  sha256,
  tar,
  uploadWorld,
  type World,
} from './upload/upload.fixture.ts'

const NO_ROUTING = { redirects: 0, headers: 0, refused: 0, problems: [] }

let world: World
beforeEach(async () => {
  world = await uploadWorld()
})
afterEach(() => world.close())

const sendArchive = (type: string, body: Uint8Array, more = '', query = QUERY) =>
  world.send('POST', `/api/deployments?${query}${more}`, {
    key: world.keys.docs,
    ...archive(type, body),
  })
const urlOf = (label: string) => `http://${label}.localhost:3000`

const REPORT = /^http:\/\/localhost:3000\/api\/deployments\/[\da-f-]{36}\/report$/
const REPORT_PAGE = /^http:\/\/localhost:3000\/projects\/[\da-f-]{36}\/deployments\/[\da-f-]{36}\/report$/

describe('POST /api/assets/upload', () => {
  test('returns the records of the files', async () => {
    const { status, body } = await world.sendForm(
      '/api/assets/upload',
      world.keys.docs,
      ...fileParts({ 'index.html': '<h1>Hi</h1>', 'a dir/ü.css': 'body{}' }),
      ...fieldParts({ ...DOCS, branch: 'main', workflowName: 'ci', workflowRunId: '7' }),
    )
    expect(status).toBe(201)
    expect(body).toEqual({
      success: true,
      published: false,
      deploymentId: expect.any(String),
      version: 1,
      notes: [{ code: 'PRIVATE_PROJECT', message: expect.any(String), path: null }],
      routing: NO_ROUTING,
      release: { status: 'none', alias: null, checks: [] },
      report: {
        status: 'running',
        url: expect.stringMatching(REPORT),
        pageUrl: expect.stringMatching(REPORT_PAGE),
      },
      assets: [
        {
          id: expect.any(String),
          fileName: 'index.html',
          storageKey: `acme/docs/${SHA}/index.html`,
          mimeType: 'text/html',
          size: 11,
          url: `/repo/acme/docs/${SHA}/index.html`,
        },
        {
          id: expect.any(String),
          fileName: 'a dir/ü.css',
          storageKey: `acme/docs/${SHA}/a dir/ü.css`,
          mimeType: 'text/css',
          size: 6,
          url: `/repo/acme/docs/${SHA}/a%20dir/%C3%BC.css`,
        },
      ],
    })
    const { body: record } = await world.send('GET', `/api/deployments/${body['deploymentId']}`, {
      key: world.keys.docs,
    })
    expect(record).toMatchObject({ branch: 'main', workflowName: 'ci', workflowRunId: '7', fileCount: 2 })
    expect(mimeTypeOf('a dir/ü.css')).toBe('text/css')
  })

  test('filePaths sets the paths, before or after the files', async () => {
    const paths = { field: 'filePaths', value: JSON.stringify(['a/1.txt', 'b/2.txt']) }
    const files = fileParts({ '1.txt': 'one', '2.txt': 'two' })
    for (const [commitSha, parts] of [
      ['aaaaaaa', [paths, ...files]],
      ['bbbbbbb', [...files, paths]],
    ] as const) {
      const answer = await world.sendForm(
        '/api/assets/upload',
        world.keys.docs,
        ...parts,
        ...fieldParts({ ...DOCS, commitSha }),
      )
      expect(answer.status).toBe(201)
      expect(world.filesOf(commitSha)).toEqual({ 'a/1.txt': 'one', 'b/2.txt': 'two' })
    }
  })

  test('accepts repository, alias and description', async () => {
    const { status, body } = await world.sendForm(
      '/api/assets/upload',
      world.keys.docs,
      ...fieldParts({
        repository: 'acme/docs',
        commitSha: SHA.toUpperCase(),
        alias: 'live',
        description: 'First',
      }),
      ...fileParts(SITE),
    )
    expect([status, body['published']]).toEqual([201, true])
    const { body: list } = await world.send('GET', '/api/deployments?alias=live', { key: world.keys.docs })
    expect(list['data']).toMatchObject([{ commitSha: SHA, description: 'First', aliases: ['live'] }])
  })

  test('accepts what FormData creates, with the names of its files', async () => {
    const body = new FormData()
    body.append('file', new File(['A'], 'deep/er/a "b".txt'))
    for (const [name, value] of Object.entries(DOCS)) body.append(name, value)
    const answer = await world.send('POST', '/api/assets/upload', { key: world.keys.docs, body })
    expect(answer.status).toBe(201)
    expect(world.filesOf()).toEqual({ 'deep/er/a "b".txt': 'A' })
  })
})

describe('POST /api/deployments', () => {
  const bodies: [type: string, of: (files: Record<string, Content>) => Promise<Uint8Array>][] = [
    ['application/zip', async (files) => zip(files)],
    ['application/x-tar', tar],
    ['application/gzip', async (files) => Bun.gzipSync(Buffer.from(await tar(files)))],
  ]

  test.each(bodies)('accepts a raw body of %s', async (type, pack) => {
    const big = 'x'.repeat(3_000_000)
    const files = { './index.html': '<h1>Hi</h1>', 'css/main.css': 'body{}', 'empty.txt': '', 'big.js': big }
    const { status, body } = await sendArchive(type, await pack(files), '&alias=production&branch=main')
    expect(status).toBe(201)
    const { './index.html': index, ...rest } = files
    expect(world.filesOf()).toEqual({ ...rest, 'index.html': index })
    const host = urlOf('production--docs--acme')
    expect(body).toMatchObject({
      success: true,
      published: true,
      deployment: {
        owner: 'acme',
        repo: 'docs',
        commitSha: SHA,
        branch: 'main',
        fileCount: 4,
        totalSize: 11 + 6 + 3_000_000,
        aliases: ['production'],
        urls: {
          sha: `http://localhost:3000/repo/acme/docs/${SHA}/`,
          preview: urlOf(`${deploymentRef(SHA)}--docs--acme`),
          alias: host,
        },
      },
      alias: { name: 'production', commitSha: SHA, url: host },
    })
    const page = await world.call('GET', `/repo/acme/docs/${SHA}/css/main.css`, { key: world.keys.docs })
    expect([page.status, await page.text()]).toEqual([200, 'body{}'])
  })

  test('the urls contain the named alias, not an older one', async () => {
    const packed = zip({ 'index.html': 'A' })
    for (const alias of ['staging', 'production']) {
      const { body } = await sendArchive('application/zip', packed, `&alias=${alias}`)
      expect(body).toMatchObject({ deployment: { urls: { alias: urlOf(`${alias}--docs--acme`) } } })
    }
  })

  test('accepts a form of parts named files, and returns no alias if none was named', async () => {
    const { status, body } = await world.sendForm(
      '/api/deployments',
      world.keys.docs,
      { file: 'index.html', content: 'A', part: 'files' },
      { file: 'b/c.js', content: 'B', part: 'files' },
      { file: 'other.txt', content: 'ignored', part: 'screenshot' },
      ...fieldParts({ ...DOCS, somethingNew: 'x' }),
    )
    expect([status, body['published'], 'alias' in body]).toEqual([201, false, false])
    expect(world.filesOf()).toEqual({ 'b/c.js': 'B', 'index.html': 'A' })
  })

  test('skips files that nobody publishes on purpose, and normalises paths', async () => {
    const files = {
      'index.html': 'A',
      '.git/config': 'x',
      '.env': 'x',
      'node_modules/a/index.js': 'x',
      '__MACOSX/._a': 'x',
      '.well-known/security.txt': 'S',
      'win\\dir\\a.txt': 'W',
      'cafe\u0301.txt': 'NFD',
    }
    expect((await sendArchive('application/x-tar', await tar(files))).status).toBe(201)
    expect(world.filesOf()).toEqual({
      '.well-known/security.txt': 'S',
      'caf\u00e9.txt': 'NFD',
      'index.html': 'A',
      'win/dir/a.txt': 'W',
    })
    const parts = fileParts({ '/x.txt': 'X', './y.txt': 'Y', '.hidden/z': 'Z' })
    const answer = await world.sendForm(
      '/api/deployments',
      world.keys.docs,
      ...parts,
      ...fieldParts({ ...DOCS, commitSha: 'bbbbbbb' }),
    )
    expect(answer.status).toBe(201)
    expect(world.filesOf('bbbbbbb')).toEqual({ 'x.txt': 'X', 'y.txt': 'Y' })
    const hidden = sha256('Z')
    const candidates = world.ctx.db.sqlite.query('SELECT sha256 FROM blob_candidates').all()
    expect(candidates).toEqual([{ sha256: hidden }])
  })
})

describe('POST /api/deployments/zip', () => {
  const archive = {
    file: 'site.zip',
    content: zip({ 'dist/index.html': 'I', 'dist/.env': 'x', 'src/a.ts': 'A' }),
  }
  const fields = fieldParts({
    repository: 'acme/docs',
    commitSha: SHA,
    branch: 'main',
    alias: 'live',
    basePath: 'dist/',
    committedAt: '2026-11-19T10:00:00+02:00',
    description: 'Text',
    isPublic: 'true',
    tags: 'a, b',
  })

  test.each([
    ['first', [archive, ...fields]],
    ['last', [...fields, archive]],
  ])('with its file %s', async (_, parts) => {
    await world.send('POST', '/api/deployments', {
      key: world.keys.docs,
      ...form(...fieldParts({ ...DOCS, commitSha: 'bbbbbbb', alias: 'main' }), { file: 'x', content: 'X' }),
    })
    const { status, body } = await world.sendForm('/api/deployments/zip', world.keys.docs, ...parts)
    expect(status).toBe(201)
    expect(body).toEqual({
      deploymentId: expect.any(String),
      repository: 'acme/docs',
      commitSha: SHA,
      version: 1,
      branch: 'main',
      fileCount: 2,
      totalSize: 2,
      aliases: ['live'],
      urls: {
        sha: `http://localhost:3000/repo/acme/docs/${SHA}/`,
        alias: urlOf('live--docs--acme'),
        preview: urlOf(`${SHA}--docs--acme`),
        branch: urlOf('main--docs--acme'),
      },
      published: true,
      notes: [{ code: 'PRIVATE_PROJECT', message: expect.any(String), path: null }],
      routing: NO_ROUTING,
      release: { status: 'moved', alias: 'live', checks: [] },
      report: {
        status: 'running',
        url: expect.stringMatching(REPORT),
        pageUrl: expect.stringMatching(REPORT_PAGE),
      },
    })
    expect(world.filesOf()).toEqual({ 'dist/index.html': 'I', 'src/a.ts': 'A' })
    expect(
      world.ctx.db.sqlite
        .query('SELECT base_path, committed_at, tags, description FROM deployments WHERE commit_sha = ?')
        .get(SHA),
    ).toEqual({
      base_path: '/dist',
      committed_at: Date.parse('2026-11-19T08:00:00Z'),
      tags: '["a","b"]',
      description: 'Text',
    })
    expect(world.ctx.db.sqlite.query("SELECT base_path FROM aliases WHERE name = 'live'").get()).toEqual({
      base_path: '/dist',
    })
  })

  test('without alias and branch their urls are null', async () => {
    const { body } = await world.sendForm(
      '/api/deployments/zip',
      world.keys.docs,
      archive,
      ...fieldParts(DOCS),
    )
    expect(body).toMatchObject({ branch: null, aliases: [], urls: { alias: null, branch: null } })
  })

  test.each(['proxyRuleSetName', 'proxyRuleSetNames', 'proxyRuleSetId', 'proxyRuleSetIds'])(
    'an unknown rule set in %s is 400, and nothing is published',
    async (field) => {
      const before = world.leftovers()
      const answer = await world.sendForm('/api/deployments/zip', world.keys.docs, ...fields, archive, {
        field,
        value: 'nope, neither',
      })
      expect(answer.status).toBe(400)
      expect(answer.body.message).toContain('"nope"')
      expect(world.leftovers()).toEqual(before)
    },
  )

  test('nor is the rule set of another project one', async () => {
    world.ctx.db.sqlite.run(
      `INSERT INTO rule_sets (id, project_id, name, is_preview, live_on, created_at, updated_at)
       SELECT 'theirs', id, 'main', 0, 'project', 0, 0 FROM projects WHERE name = 'blog'`,
    )
    const answer = await world.sendForm(
      '/api/deployments/zip',
      world.keys.docs,
      ...fieldParts({ ...DOCS, alias: 'production', proxyRuleSetId: 'theirs' }),
      archive,
    )
    expect(answer).toMatchObject({ status: 400, body: { details: [{ path: 'proxyRuleSetId' }] } })
  })
})

test('prepare-batch-upload: there are no presigned addresses', async () => {
  const answer = await world.send('POST', '/api/deployments/prepare-batch-upload', {
    key: world.keys.docs,
    json: { files: [] },
  })
  expect(answer).toEqual({ status: 200, body: { presignedUrlsSupported: false } })
  expect((await world.send('POST', '/api/deployments/prepare-batch-upload')).status).toBe(401)
})
