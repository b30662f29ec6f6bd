import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { zip } from '../../../platform/archive/zip.fixture.ts'
import type { CallOptions } from '../../../testing/test-app.ts'
import {
  archive,
  type Content,
  DOCS,
  fieldParts,
  fileParts,
  form,
  type Part,
  QUERY,
  SHA,
  tar,
  uploadWorld,
  type World,
} from './upload.fixture.ts'

let world: World
beforeAll(async () => {
  world = await uploadWorld({ MAX_UPLOAD_BYTES: '200000', MAX_DEPLOYMENT_FILES: '20' })
})
afterAll(() => world.close())

type Body = Pick<CallOptions, 'body' | 'headers'>

/** Sends it and expects the refusal, with nothing left behind. */
async function refused(path: string, body: Body, status: number, message: string | RegExp): Promise<void> {
  const before = world.leftovers()
  const answer = await world.send('POST', path, { key: world.keys.docs, ...body })
  expect([answer.status, answer.body.message]).toEqual([
    status,
    typeof message === 'string' ? message : expect.stringMatching(message),
  ])
  expect(world.leftovers()).toEqual(before)
}

const asTar = async (files: Record<string, Content>) => archive('application/x-tar', await tar(files))
const asZip = (files: Record<string, Content>) => archive('application/zip', zip(files))
const asGzip = async (files: Record<string, Content>) =>
  archive('application/gzip', Bun.gzipSync(Buffer.from(await tar(files))))

describe('unsafe paths', () => {
  const slips: [path: string, reason: string][] = [
    ['../evil.txt', 'a path must not contain ..'],
    ['a/../../evil.txt', 'a path must not contain ..'],
    ['..\\evil.txt', 'a path must not contain ..'],
    ['.git/../../evil', 'a path must not contain ..'],
    ['C:\\windows\\evil.txt', 'a path must not begin with a drive letter'],
    ['/etc/passwd', 'a path in an archive must not begin with /'],
    ['\\\\server\\share', 'a path in an archive must not begin with /'],
    [`${'long/'.repeat(2000)}file`, 'a path must not be longer than 1024 bytes'],
    [`${'n'.repeat(256)}`, 'a name in a path must not be longer than 255 bytes'],
    ['a\u0007b', 'a path must not contain control characters'],
  ]
  test.each(slips)('%p in an archive', async (path, reason) => {
    const named = JSON.stringify(path.length > 200 ? `${path.slice(0, 200)}…` : path)
    const files = { 'index.html': 'fine', [path]: 'evil' }
    for (const body of [await asTar(files), await asGzip(files), asZip(files)])
      await refused(`/api/deployments?${QUERY}`, body, 400, `${named}: ${reason}`)
  })

  test.each(slips.filter(([, reason]) => !reason.includes('archive')))(
    '%p in a form',
    async (path, reason) => {
      const named = JSON.stringify(path.length > 200 ? `${path.slice(0, 200)}…` : path)
      const given = { field: 'filePaths', value: JSON.stringify(['index.html', path]) }
      const parts = [...fileParts({ 'index.html': 'fine', b: 'evil' }), ...fieldParts(DOCS), given]
      await refused('/api/assets/upload', form(...parts), 400, `${named}: ${reason}`)
    },
  )

  test('NUL', async () => {
    const parts = [...fieldParts(DOCS), { file: 'a\0b', content: 'x' }]
    await refused('/api/assets/upload', form(...parts), 400, '"a\\u0000b": a path must not contain NUL')
  })
})

describe('malformed archives', () => {
  const link = (type: string) => {
    const block = Buffer.alloc(1536)
    block.write('link', 0)
    block.write('00000000000\0', 124)
    block.write('        ', 148)
    block.write(type, 156)
    block.write('/etc/passwd', 157)
    block.write('ustar\x0000', 257)
    const sum = block.subarray(0, 512).reduce((total, byte) => total + byte, 0)
    block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
    return block
  }

  test.each([
    ['a symbolic link', '2'],
    ['a hard link', '1'],
    ['a device', '3'],
  ])('%s', async (what, type) => {
    const bytes = Buffer.concat([(await tar({ 'a.txt': 'A' })).subarray(0, 1024), link(type)])
    const body = archive('application/x-tar', bytes)
    await refused(`/api/deployments?${QUERY}`, body, 400, new RegExp(`"link" is ${what}`))
  })

  test('cut off', async () => {
    const whole = await tar({ 'a.txt': 'A'.repeat(100), 'b.txt': 'B'.repeat(2000) })
    const packed = Bun.gzipSync(Buffer.from(whole))
    await refused(
      `/api/deployments?${QUERY}`,
      archive('application/x-tar', whole.subarray(0, 2100)),
      400,
      /too soon/,
    )
    await refused(
      `/api/deployments?${QUERY}`,
      archive('application/gzip', packed.subarray(0, -20)),
      400,
      /cut off/,
    )
    const zipped = zip({ 'a.txt': 'A'.repeat(100) })
    await refused(`/api/deployments?${QUERY}`, archive('application/zip', zipped.subarray(0, -10)), 400, /./)
  })

  test.each(['application/zip', 'application/x-tar', 'application/gzip'])('nonsense as %s', async (type) => {
    await refused(`/api/deployments?${QUERY}`, archive(type, Buffer.alloc(3000, 'nonsense')), 400, /./)
  })

  test('bombs', async () => {
    const bomb = { 'bomb.bin': Buffer.alloc(50_000_000), 'index.html': 'A' }
    await refused(`/api/deployments?${QUERY}`, await asGzip(bomb), 413, /larger|more than the 200000 bytes/)
    await refused(`/api/deployments?${QUERY}`, asZip(bomb), 413, /more than the 200000 bytes/)
    const inForm = form(...fieldParts(DOCS), { file: 'a.zip', content: zip(bomb) })
    await refused('/api/deployments/zip', inForm, 413, /more than the 200000 bytes/)
  })

  test('with only skipped files', async () => {
    const nothing = { '.git/config': 'x', 'node_modules/x.js': 'x' }
    const message =
      /^The upload holds no files: .+ begins with a dot .+ node_modules and __MACOSX are left out\.$/
    for (const body of [
      await asTar(nothing),
      await asGzip({}),
      asZip(nothing),
      archive('application/x-tar', Buffer.alloc(0)),
    ])
      await refused(`/api/deployments?${QUERY}`, body, 400, message)
  })
})

describe('clashing entries', () => {
  test('a file that would have to be a folder', async () => {
    const message = '"a" cannot be both a file and the folder of "a/b"'
    const files = { 'a/b': 'B', a: 'A' }
    for (const body of [await asTar(files), asZip(files)])
      await refused(`/api/deployments?${QUERY}`, body, 400, message)
    await refused('/api/assets/upload', form(...fileParts(files), ...fieldParts(DOCS)), 400, message)
  })

  test('also with two Unicode spellings', async () => {
    const files = { 'caf\u00e9': 'file', 'cafe\u0301/index.html': 'folder' }
    await refused(`/api/deployments?${QUERY}`, await asTar(files), 400, /"caf\u00e9" cannot be both a file/)
  })
})

describe('limits', () => {
  const many = Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`${i}.txt`, `${i}`]))

  test('too many files', async () => {
    const message = /20 files/
    for (const body of [await asTar(many), await asGzip(many), asZip(many)])
      await refused(`/api/deployments?${QUERY}`, body, 413, message)
    await refused('/api/assets/upload', form(...fieldParts(DOCS), ...fileParts(many)), 413, message)
    const inForm = form({ file: 'a.zip', content: zip(many) }, ...fieldParts(DOCS))
    await refused('/api/deployments/zip', inForm, 413, message)
  })

  test('skipped files do not count', async () => {
    const skipped = Object.fromEntries(Object.keys(many).map((name) => [`node_modules/${name}`, 'x']))
    const files = { ...skipped, 'index.html': 'A' }
    const bodies = [await asTar(files), asZip(files), form(...fileParts(files), ...fieldParts(DOCS))]
    for (const body of bodies) {
      const answer = await world.send('POST', `/api/deployments?${QUERY}`, { key: world.keys.docs, ...body })
      expect(answer.body['deployment']).toMatchObject({ fileCount: 1 })
    }
  })

  test('too many together with those in the deployment', async () => {
    const some = Object.fromEntries(Object.entries(many).slice(0, 15))
    const target = new URLSearchParams({ ...DOCS, commitSha: 'ccccccc' })
    const first = await world.send('POST', `/api/deployments?${target}`, {
      key: world.keys.docs,
      ...(await asTar(some)),
    })
    expect(first.status).toBe(201)
    await refused(`/api/deployments?${target}`, await asTar({ 'new/1': 'n', ...many }), 413, /20 files/)
    const again = await world.send('POST', `/api/deployments?${target}`, {
      key: world.keys.docs,
      ...(await asTar({ ...some, 'new.txt': 'n' })),
    })
    expect(again.body['deployment']).toMatchObject({ fileCount: 16 })
  })

  test('a body that is too large, announced or not', async () => {
    const big = 'x'.repeat(200_001)
    const upload = form({ file: 'big.bin', content: big }, ...fieldParts(DOCS))
    const stream = () => new Blob([upload.body]).stream()
    await refused('/api/assets/upload', upload, 413, /larger than the 200000 bytes/)
    await refused('/api/assets/upload', { ...upload, body: stream() }, 413, /larger than the 200000 bytes/)
    await refused('/api/deployments/zip', { ...upload, body: stream() }, 413, /larger than the 200000 bytes/)
    await refused(`/api/deployments?${QUERY}`, await asTar({ 'big.bin': big }), 413, /200000 bytes/)
    const announced = { ...upload, headers: { ...upload.headers, 'content-length': '200001' } }
    await refused('/api/deployments', announced, 413, /larger than the 200000 bytes/)
  })
})

describe('forms', () => {
  const file = { file: 'index.html', content: 'A' }
  const detail = (field: string, value: string): [string, Part[], string] => [
    `${field} ${JSON.stringify(value.slice(0, 30))}`,
    [file, ...fieldParts({ ...DOCS, [field]: value })],
    field,
  ]
  const cases: [what: string, parts: Part[], path: string][] = [
    ['no owner', [file, ...fieldParts({ repo: 'docs', commitSha: SHA })], 'owner'],
    ['no repo', [file, ...fieldParts({ owner: 'acme', commitSha: SHA })], 'repo'],
    ['no commitSha', [file, ...fieldParts({ owner: 'acme', repo: 'docs' })], 'commitSha'],
    detail('commitSha', 'abc'),
    detail('commitSha', 'g'.repeat(40)),
    detail('commitSha', 'a'.repeat(65)),
    detail('alias', 'no dots.please'),
    detail('alias', 'abcdef0'),
    detail('alias', 'a'.repeat(65)),
    detail('isPublic', 'maybe'),
    detail('basePath', '../up'),
    detail('basePath', '.hidden'),
    detail('committedAt', 'yesterday'),
    detail('branch', 'b'.repeat(256)),
    detail('repository', 'acme/other'),
    detail('filePaths', '["a","b"]'),
    detail('filePaths', '{"a":1}'),
    detail('filePaths', '[1]'),
    [
      'repository without an owner',
      [file, ...fieldParts({ repository: 'docs', commitSha: SHA })],
      'repository',
    ],
    ['repository of three', [file, ...fieldParts({ repository: 'a/b/c', commitSha: SHA })], 'repository'],
  ]
  test.each(cases)('%s', async (_, parts, path) => {
    const before = world.leftovers()
    const { status, body } = await world.send('POST', '/api/assets/upload', {
      key: world.keys.docs,
      ...form(...parts),
    })
    expect([status, body]).toMatchObject([400, { details: [{ path }] }])
    expect(world.leftovers()).toEqual(before)
  })

  test('all wrong fields are reported at once', async () => {
    const { body } = await world.send('POST', '/api/assets/upload', {
      key: world.keys.docs,
      ...form(file, ...fieldParts({ ...DOCS, commitSha: 'x', alias: '!', committedAt: 'x' })),
    })
    const details = body['details'] as { path: string }[]
    expect(details.map(({ path }) => path)).toEqual(['commitSha', 'committedAt', 'alias'])
  })

  test('no file', async () => {
    const none = /holds no files: send them as parts named file/
    await refused('/api/assets/upload', form(...fieldParts(DOCS)), 400, none)
    await refused('/api/assets/upload', form(...fieldParts({ ...DOCS, file: 'text' })), 400, none)
    await refused('/api/assets/upload', form({ file: '', content: '' }, ...fieldParts(DOCS)), 400, none)
    const hidden = form({ file: '.env', content: 'A=1' }, ...fieldParts(DOCS))
    await refused('/api/assets/upload', hidden, 400, /begins with a dot/)
    await refused('/api/deployments/zip', form(...fieldParts(DOCS)), 400, /has no archive/)
    for (const path of ['/api/assets/upload', '/api/deployments/zip']) {
      const { body } = await world.send('POST', path, { key: world.keys.docs, ...form(...fieldParts(DOCS)) })
      expect(body['details']).toEqual([{ path: 'file', message: expect.any(String) }])
    }
  })

  test('more than one archive', async () => {
    const archives = ['a.zip', 'b.zip'].map((name) => ({ file: name, content: zip({ 'a.txt': 'A' }) }))
    await refused('/api/deployments/zip', form(...archives, ...fieldParts(DOCS)), 400, /one archive/)
  })

  test('malformed', async () => {
    const type = { 'content-type': 'multipart/form-data; boundary=XyZ' }
    const { body } = form(file, ...fieldParts(DOCS))
    const bodies: [Uint8Array<ArrayBuffer> | string, Record<string, string>][] = [
      [body.subarray(0, body.length - 12), type],
      [body, { 'content-type': 'multipart/form-data' }],
      [body, { 'content-type': 'multipart/form-data; boundary=other' }],
      ['', type],
      ['--XyZ\r\nno header\r\n\r\nx\r\n--XyZ--\r\n', type],
    ]
    for (const [bytes, headers] of bodies)
      await refused('/api/assets/upload', { body: bytes, headers }, 400, /./)
  })

  test.each([
    ['/api/assets/upload', 'application/json'],
    ['/api/deployments/zip', 'application/zip'],
    [`/api/deployments?${QUERY}`, 'application/json'],
    [`/api/deployments?${QUERY}`, 'text/plain'],
    ['/api/deployments/manifest', 'text/plain'],
  ])('%s does not take %s', async (path, type) => {
    await refused(path, { body: 'x', headers: { 'content-type': type } }, 400, new RegExp(`^${type} cannot`))
  })

  test('rule sets need an alias to be attached to', async () => {
    const parts = [file, ...fieldParts({ ...DOCS, proxyRuleSetName: 'main' })]
    await refused('/api/assets/upload', form(...parts), 400, /name one in the field alias/)
  })
})
