import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { SEED_OWNER, type Seeded, seedDeployment } from '../../testing/seed.ts'
import { seedKey } from '../../testing/seed-people.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'

/** Compare, each patch given to `patch -p1`. contract 17.4. */
type Files = Record<string, string | Uint8Array>
type Change = { kind: string; path: string; fromPath: string | null; size: number; fromSize: number | null }
type Side = { id: string; number: number; title: string | null; commitSha: string }
type Comparison = {
  from: Side
  to: Side
  counts: Record<string, number>
  data: (Change & { mimeType: string; isText: boolean })[]
  pagination: { page: number; limit: number; total: number; pages: number }
}
type FileComparison = {
  kind: string
  path: string
  fromPath: string | null
  isText: boolean
  tooLarge: boolean
  hunks: { fromStart: number; fromLines: number; toStart: number; toLines: number; lines: string[] }[]
}

let app: TestApp
let folder = ''
beforeAll(async () => {
  app = await testApp()
  folder = mkdtempSync(join(tmpdir(), 'svc-compare-'))
})
afterAll(() => {
  app.close()
  rmSync(folder, { recursive: true })
})

let published = 0
async function publish(files: Files, repo = 'site', alias?: string): Promise<Seeded> {
  published += 1
  app.advance(1000)
  const sha = published.toString(16).padStart(40, '0')
  return seedDeployment(app, { owner: 'acme', repo, sha, files, ...(alias === undefined ? {} : { alias }) })
}
const publishBoth = async (from: Files, to: Files) => [await publish(from), await publish(to)] as const

const get = (path: string, as = SEED_OWNER) => app.call('GET', path, { as })
const json = async <T>(path: string): Promise<T> => {
  const answer = await get(path)
  expect(answer.status).toBe(200)
  return (await answer.json()) as T
}
const compare = (from: Seeded, to: Seeded, more = '') =>
  json<Comparison>(`/api/deployments/${to.deploymentId}/compare?with=${from.deploymentId}${more}`)
const filePath = (from: Seeded, to: Seeded, path: string) =>
  `/api/deployments/${to.deploymentId}/compare/file?with=${from.deploymentId}&path=${encodeURIComponent(path)}`
const compareFile = (from: Seeded, to: Seeded, path: string) => json<FileComparison>(filePath(from, to, path))

const bytesOf = (content: string | Uint8Array) => Buffer.from(content)
const lines = (count: number, text: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => `${text(at)}\n`).join('')

/** Applies the patches of all changed files to a folder with the old ones, one after the other, and reads it. */
async function patched(from: Files, to: Files): Promise<Record<string, Buffer>> {
  const [old, now] = await publishBoth(from, to)
  const root = mkdtempSync(join(folder, 'tree-'))
  for (const [path, content] of Object.entries(from)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  const { data } = await compare(old, now, '&limit=100')
  for (const { path } of data.toSorted(
    (a, b) => Number(b.kind === 'removed') - Number(a.kind === 'removed'),
  )) {
    const answer = await get(`${filePath(old, now, path)}&format=patch`)
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    const stdin = new Uint8Array(await answer.arrayBuffer())
    const { exitCode, stdout } = Bun.spawnSync(['patch', '-p1', '--batch', '--no-backup-if-mismatch'], {
      cwd: root,
      stdin,
    })
    expect([path, exitCode, stdout.toString()]).toEqual([path, 0, expect.not.stringMatching(/fuzz|offset/)])
  }
  return filesIn(root)
}

const filesIn = (root: string): Record<string, Buffer> =>
  Object.fromEntries(
    readdirSync(root, { recursive: true })
      .map(String)
      .filter((path) => statSync(join(root, path)).isFile())
      .map((path) => [path, readFileSync(join(root, path))]),
  )

const PATCHES: [what: string, from: Files, to: Files][] = [
  [
    'a line in the middle',
    { a: lines(20, String) },
    { a: lines(20, (at) => (at === 9 ? 'nine' : String(at))) },
  ],
  ['two hunks', { a: lines(40, String) }, { a: lines(40, (at) => (at % 30 === 5 ? 'x' : String(at))) }],
  ['added and removed', { a: '1\n', b: 'b\n' }, { a: '1\n', c: 'c\nd' }],
  ['empty ones that come and go', { a: '1', gone: '' }, { a: '1', new: '' }],
  ['to and from empty', { a: '', b: 'text\n' }, { a: 'text', b: '' }],
  ['no newline at the end', { a: '1\n2', b: '1\n2\n' }, { a: '1\n2\n', b: '1\n2' }],
  ['a last line that changes', { a: '1\n2' }, { a: '1\n3' }],
  ['CRLF against LF', { a: 'x\r\ny\r\nz\r\n' }, { a: 'x\ny\r\nz\n' }],
  ['a lone CR', { a: 'x\ry\rz' }, { a: 'x\ry\rZ' }],
  ['a BOM that goes', { a: '\ufeffx\ny\n' }, { a: 'x\ny\n' }],
  ['one line of 1 MiB', { a: 'x'.repeat(1024 * 1024) }, { a: `${'x'.repeat(1024 * 1024 - 1)}y` }],
  [
    'invalid UTF-8',
    { a: Uint8Array.of(0x61, 0xff, 0x0a, 0x62) },
    { a: Uint8Array.of(0x61, 0xfe, 0x0a, 0x62) },
  ],
  [
    'binary',
    { a: Uint8Array.of(0, 1, 10, 2, 13, 10, 3) },
    { a: Uint8Array.of(0, 1, 10, 4, 13, 10, 3, 0, 10) },
  ],
  ['moved', { 'old.txt': lines(9, String), keep: 'k' }, { 'a/b/new.txt': lines(9, String), keep: 'k' }],
  ['moved and binary', { old: Uint8Array.of(0, 255) }, { 'new one': Uint8Array.of(0, 255) }],
  ['moved and empty', { old: '' }, { new: '' }],
  [
    'names with spaces, quotes and letters',
    { 'a b.txt': '1\n', 'say "ä".txt': '1\n' },
    { 'a b.txt': '2\n', 'say "ä".txt': '2\n' },
  ],
  ['spaces that come and go', { 'a b': 'x\n', 'e f': '' }, { 'c "d"': 'y\n', 'g h': '', i: '2' }],
  ['a file in place of a folder', { 'a/b': 'x\n' }, { a: 'y\n' }],
  ['a folder in place of a file', { a: 'x\n' }, { 'a/b': 'y\n' }],
  ['nothing in common', { a: lines(3000, (at) => `old ${at}`) }, { a: lines(3000, (at) => `new ${at}`) }],
  [
    'lines that look like a patch',
    { a: '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-y\n\\ z\n' },
    { a: '--- a/x\n+++ b/y\n@@ -1 +1 @@\n-y\n\\ q\n' },
  ],
]

test.each(PATCHES)('patch -p1 gives the bytes: %s', async (_, from, to) => {
  const found = await patched(from, to)
  const expected = Object.fromEntries(Object.entries(to).map(([path, content]) => [path, bytesOf(content)]))
  expect(found).toEqual(expected)
})

describe('GET /api/deployments/:id/compare', () => {
  test('by path in UTF-8 bytes, with counts, sizes and types', async () => {
    const [from, to] = await publishBoth(
      { 'a-c': '1', 'a/b': '1', 'b.html': 'old', same: 's', gone: 'g', 'x/moved.css': 'css' },
      {
        'a-c': '22',
        'a/b': '333',
        'b.html': 'newer',
        same: 's',
        'y/moved.css': 'css',
        '\u{1f600}': '1',
        '\uff5e': '2',
        bin: '\0',
      },
    )
    const { data, ...rest } = await compare(from, to)
    expect(rest).toEqual({
      from: { id: from.deploymentId, number: expect.any(Number), title: null, commitSha: expect.any(String) },
      to: { id: to.deploymentId, number: expect.any(Number), title: null, commitSha: expect.any(String) },
      counts: { added: 3, changed: 3, removed: 1, moved: 1, unchanged: 1 },
      pagination: { page: 1, limit: 20, total: 8, pages: 1 },
    })
    const text = { isText: true, fromPath: null, fromSize: null }
    expect(data).toEqual([
      { ...text, kind: 'changed', path: 'a-c', size: 2, fromSize: 1, mimeType: 'text/plain' },
      { ...text, kind: 'changed', path: 'a/b', size: 3, fromSize: 1, mimeType: 'text/plain' },
      { ...text, kind: 'changed', path: 'b.html', size: 5, fromSize: 3, mimeType: 'text/html' },
      { ...text, kind: 'added', path: 'bin', size: 1, mimeType: 'application/octet-stream', isText: false },
      { ...text, kind: 'removed', path: 'gone', size: 1, mimeType: 'text/plain' },
      {
        ...text,
        kind: 'moved',
        path: 'y/moved.css',
        fromPath: 'x/moved.css',
        size: 3,
        fromSize: 3,
        mimeType: 'text/css',
      },
      { ...text, kind: 'added', path: '\uff5e', size: 1, mimeType: 'text/plain' },
      { ...text, kind: 'added', path: '\u{1f600}', size: 1, mimeType: 'text/plain' },
    ])
    const added = await compare(from, to, '&kind=added&limit=2&page=2')
    expect([added.counts, added.data.map(({ path }) => path), added.pagination]).toEqual([
      rest.counts,
      ['\u{1f600}'],
      { page: 2, limit: 2, total: 3, pages: 2 },
    ])
    const backwards = await compare(from, to, '&order=desc&limit=1')
    expect(backwards.data[0]?.path).toBe('\u{1f600}')
    expect((await compare(from, to, '&page=9')).counts).toEqual(rest.counts)
  })

  const MOVES: [what: string, from: string[], to: string[], moved: [string, string][]][] = [
    ['each is used once', ['a', 'b'], ['c'], [['a', 'c']]],
    [
      'the same last segment first',
      ['1/x', '2/y'],
      ['3/y', '4/x'],
      [
        ['2/y', '3/y'],
        ['1/x', '4/x'],
      ],
    ],
    [
      'then by path',
      ['b', 'a', 'z/x'],
      ['d', 'c', 'y/x'],
      [
        ['a', 'c'],
        ['b', 'd'],
        ['z/x', 'y/x'],
      ],
    ],
    [
      'the last segment, whole',
      ['ax', 'b/x'],
      ['c/x', 'd/ax'],
      [
        ['b/x', 'c/x'],
        ['ax', 'd/ax'],
      ],
    ],
  ]
  test.each(MOVES)('moved: %s', async (_, from, to, moved) => {
    const all = (paths: string[]) => Object.fromEntries(paths.map((path) => [path, 'same']))
    const { data } = await compare(...(await publishBoth(all(from), all(to))), '&kind=moved')
    expect(data.map(({ fromPath, path }) => [String(fromPath), path])).toEqual(moved)
  })

  test('the same content at fifty paths', async () => {
    const at = (place: string, count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`${place}/${n}`, 'same']))
    const [from, to] = await publishBoth(at('a', 50), at('b', 60))
    const { counts, data } = await compare(from, to, '&limit=100')
    expect(counts).toEqual({ added: 10, changed: 0, removed: 0, moved: 50, unchanged: 0 })
    for (const { fromPath, path } of data)
      if (fromPath !== null) expect(path.slice(2)).toBe(fromPath.slice(2))
  })

  test('with an alias, itself; not of another project, not without a target', async () => {
    const [from, to] = [await publish({ a: '1' }, 'site', 'stable'), await publish({ a: '2' })]
    const other = await publish({ a: '3' }, 'other')
    const path = `/api/deployments/${to.deploymentId}/compare`
    expect((await json<Comparison>(`${path}?with=STABLE`)).from.id).toBe(from.deploymentId)
    expect((await json<Comparison>(`${path}?with=${to.deploymentId}`)).data).toEqual([])
    for (const target of [other.deploymentId, 'nothing', '99999', Bun.randomUUIDv7()])
      expect((await get(`${path}?with=${target}`)).status).toBe(404)
    for (const query of [
      '',
      '?with=',
      `?with=stable&kind=x`,
      '?with=stable&limit=101',
      '?with=stable&sort=size',
    ])
      expect((await get(`${path}${query}`)).status).toBe(400)
    const key = seedKey(app, from.projectId)
    expect((await app.call('GET', `${path}?with=stable`, { key })).status).toBe(200)
  })
})

describe('GET /api/deployments/:id/compare/file', () => {
  test('hunks with three lines of context', async () => {
    const [from, to] = await publishBoth(
      { a: lines(20, String), b: 'x' },
      { a: lines(20, (at) => (at === 9 ? 'nine' : String(at))), b: 'x' },
    )
    expect(await compareFile(from, to, '/a')).toEqual({
      path: 'a',
      fromPath: null,
      kind: 'changed',
      isText: true,
      tooLarge: false,
      hunks: [
        {
          fromStart: 7,
          fromLines: 7,
          toStart: 7,
          toLines: 7,
          lines: [' 6', ' 7', ' 8', '-9', '+nine', ' 10', ' 11', ' 12'],
        },
      ],
    })
    expect(await compareFile(from, to, 'b')).toMatchObject({ kind: 'unchanged', hunks: [] })
    expect((await get(filePath(from, to, 'c'))).status).toBe(404)
    expect((await get(filePath(from, to, ''))).status).toBe(400)
  })

  test('a file that moved, by its new and its old path', async () => {
    const [from, to] = await publishBoth({ old: 'x' }, { new: 'x' })
    for (const path of ['new', 'old'])
      expect(await compareFile(from, to, path)).toMatchObject({
        kind: 'moved',
        path: 'new',
        fromPath: 'old',
        hunks: [],
      })
  })

  const LARGE: [what: string, content: string, tooLarge: boolean][] = [
    ['1 MiB', 'x'.repeat(1024 * 1024), false],
    ['1 MiB and a byte', 'x'.repeat(1024 * 1024 + 1), true],
    ['20,000 lines', 'x\n'.repeat(20_000), false],
    ['20,001 lines', `${'x\n'.repeat(20_000)}x`, true],
  ]
  test.each(LARGE)('%s', async (_, content, tooLarge) => {
    const [from, to] = await publishBoth({ a: '1' }, { a: content })
    const found = await compareFile(from, to, 'a')
    expect([found.isText, found.tooLarge, found.hunks.length]).toEqual([true, tooLarge, tooLarge ? 0 : 1])
    expect((await get(`${filePath(from, to, 'a')}&format=patch`)).status).toBe(tooLarge ? 413 : 200)
  })

  test('binary content has no hunks', async () => {
    const [from, to] = await publishBoth({ a: 'a\0' }, { a: 'b\0' })
    expect(await compareFile(from, to, 'a')).toMatchObject({ isText: false, tooLarge: false, hunks: [] })
  })

  test('20,000 lines with nothing in common, or that could be anything, are one block', async () => {
    const [from, to] = await publishBoth(
      { none: lines(20_000, (at) => `old ${at}`), any: lines(20_000, (at) => String((at * 7919) % 97)) },
      { none: lines(20_000, (at) => `new ${at}`), any: lines(20_000, (at) => String((at * 7907) % 89)) },
    )
    for (const path of ['none', 'any']) {
      const [hunk, ...others] = (await compareFile(from, to, path)).hunks
      expect([hunk?.fromLines, hunk?.toLines, others.length]).toEqual([20_000, 20_000, 0])
    }
  })

  test('2,000 lines that differ are found one by one', async () => {
    const of = (mark: string) => lines(20_000, (at) => (at % 20 === 10 ? `${mark} ${at}` : String(at)))
    const [from, to] = await publishBoth({ a: of('old') }, { a: of('new') })
    expect((await compareFile(from, to, 'a')).hunks).toHaveLength(1000)
  })
})

describe('GET /api/deployments/:id/content', () => {
  let site: Seeded
  const content = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    app.call(method, `/api/deployments/${site.deploymentId}/content?path=${encodeURIComponent(path)}`, {
      as: SEED_OWNER,
      headers,
    })
  beforeAll(async () => {
    site = await publish({
      'index.html': '<script>alert(1)</script>',
      'a.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
      'a.png': Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a),
      'large.webp': 'x'.repeat(3 * 1024 * 1024),
    })
  })

  test.each([
    ['index.html', 'text/html', 'attachment'],
    ['a.svg', 'image/svg+xml', 'attachment'],
    ['a.png', 'image/png', 'inline'],
    ['large.webp', 'image/webp', 'inline'],
  ])('%s', async (path, type, disposition) => {
    const answer = await content(path)
    expect([answer.status, Object.fromEntries(answer.headers)]).toEqual([
      200,
      expect.objectContaining({
        'content-type': type,
        'content-disposition': disposition,
        'content-security-policy': "sandbox; default-src 'none'",
        'x-content-type-options': 'nosniff',
        'cache-control': 'private, no-cache',
        'accept-ranges': 'bytes',
      }),
    ])
    const etag = answer.headers.get('etag') ?? ''
    const again = await content(path, { 'if-none-match': etag })
    expect([again.status, again.headers.get('content-security-policy')]).toEqual([
      304,
      "sandbox; default-src 'none'",
    ])
  })

  test('ranges', async () => {
    const part = await content('index.html', { range: 'bytes=1-6' })
    expect([part.status, part.headers.get('content-range'), await part.text()]).toEqual([
      206,
      'bytes 1-6/25',
      'script',
    ])
    expect((await content('index.html', { range: 'bytes=0-0,5-6' })).headers.get('content-type')).toContain(
      'multipart/byteranges',
    )
    expect((await content('index.html', { range: 'bytes=99-' })).status).toBe(416)
    expect((await content('index.html', { 'if-match': '"x"' })).status).toBe(412)
  })

  test('HEAD, a missing path, a missing file', async () => {
    const head = await content('index.html', {}, 'HEAD')
    expect([head.status, head.headers.get('content-length')]).toEqual([200, '25'])
    expect((await content('nothing')).status).toBe(404)
    expect((await content('')).status).toBe(400)
    expect((await content('../index.html')).status).toBe(404)
  })
})
