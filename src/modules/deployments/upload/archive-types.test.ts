import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { archive as rawTar } from '../../../platform/archive/tar.fixture.ts'
import { zip } from '../../../platform/archive/zip.fixture.ts'
import { listening } from '../../../testing/test-app.ts'
import { waitForVariants } from '../variants.ts'
import {
  archive,
  type Content,
  DOCS,
  type form,
  QUERY,
  SITE,
  tar,
  uploadWorld,
  type World,
} from './upload.fixture.ts'

/** contract 12.9: of a raw body the bytes decide, for every type that may come with an archive. */

let world: World
let server: ReturnType<typeof listening>
beforeAll(async () => {
  world = await uploadWorld()
  server = listening(world)
})
afterAll(async () => {
  await server.stop(true)
  await world.close()
})

const NAMES =
  'zip x-zip x-zip-compressed gzip x-gzip x-tar x-gtar tar x-tgz x-compressed x-compressed-tar octet-stream x-www-form-urlencoded'
const TYPES = [
  null,
  'APPLICATION/ZIP; charset=binary',
  ...NAMES.split(' ').map((name) => `application/${name}`),
]

const site = await tar(SITE)
const v7 = rawTar(
  { name: 'index.html', body: SITE['index.html'], magic: '' },
  { name: 'css/main.css', body: SITE['css/main.css'], magic: '' },
)
const gnu = rawTar(
  { name: './index.html', body: SITE['index.html'], magic: 'ustar  \0' },
  { name: './css/main.css', body: SITE['css/main.css'], magic: 'ustar  \0' },
)
const gzip = (bytes: Uint8Array) => Bun.gzipSync(Buffer.from(bytes))

const READ: Record<string, Uint8Array> = {
  'a zip': zip(SITE),
  'a tar of POSIX': site,
  'a tar of GNU': gnu,
  'a tar from before ustar': v7,
  'a tar.gz': gzip(site),
  'a tar.gz from before ustar': gzip(v7),
}

/** As curl and other programs send it; without a type, as no `fetch` does. */
async function post(type: string | null, body: Uint8Array): Promise<{ status: number; body: World }> {
  const fields = new URLSearchParams({ ...DOCS, commitSha: Bun.SHA1.hash(`${count++}`, 'hex') })
  const answer = await fetch(`http://127.0.0.1:${server.port}/api/deployments?${fields}`, {
    method: 'POST',
    headers: {
      host: 'localhost',
      'x-api-key': world.keys.docs,
      ...(type === null ? {} : { 'content-type': type }),
    },
    body: new Uint8Array(body),
  })
  return { status: answer.status, body: JSON.parse(await answer.text()) }
}
let count = 0

const everyWay = Object.entries(READ).flatMap(([what, bytes]) =>
  TYPES.map((type) => [what, type, bytes] as const),
)

test.each(everyWay)('%s as %p', async (_what, type, bytes) => {
  const { status, body } = await post(type, bytes)
  expect([status, body]).toMatchObject([201, { deployment: { fileCount: 2, totalSize: 17 } }])
})

const hex = (text: string) => Buffer.concat([Buffer.from(text, 'hex'), Buffer.alloc(2000, 7)])
const NAMED: [name: string, bytes: Uint8Array][] = [
  ['bzip2', hex('425a6839314159265359')],
  ['xz', hex('fd377a585a000004')],
  ['zstd', Bun.zstdCompressSync(Buffer.from(site))],
  ['7z', hex('377abcaf271c0004')],
  ['rar', hex('526172211a0700')],
  ['rar', hex('526172211a070100')],
]
const everyRefusal = NAMED.flatMap(([name, bytes]) => TYPES.map((type) => [name, type, bytes] as const))

test.each(everyRefusal)('%s as %p is refused by its name', async (name, type, bytes) => {
  const { status, body } = await post(type, bytes)
  expect([status, body]).toMatchObject([
    400,
    { message: expect.stringContaining(`is ${name}, which is not read: send a zip`) },
  ])
})

describe('what is no archive', () => {
  const refused = async (type: string, body: Content) => {
    // What was published before is still compressed in the background.
    await waitForVariants(world.ctx)
    const before = world.leftovers()
    const sent = archive(type, Buffer.from(body))
    const answer = await world.send('POST', `/api/deployments?${QUERY}`, { key: world.keys.docs, ...sent })
    expect(answer.status).toBe(400)
    expect(world.leftovers()).toEqual(before)
    return answer.body.message
  }

  test.each<[what: string, body: Content, message: string]>([
    ['text', 'commitSha=abcdef1', 'neither a zip nor a tar nor gzip'],
    ['nothing', '', 'The request has no body'],
    ['one byte', 'P', 'neither a zip'],
    [
      'a page of gzip',
      gzip(Buffer.from('<h1>Hi</h1>')),
      'What the gzip data holds is no tar archive: send a zip',
    ],
    ['a zip inside of gzip', gzip(zip(SITE)), 'is no tar archive, but zip'],
    ['gzip twice', gzip(gzip(site)), 'is no tar archive, but gzip'],
    ['xz inside of gzip', gzip(hex('fd377a585a000004')), 'is no tar archive, but xz'],
    ['gzip cut off', gzip(site).subarray(0, -9), 'cut off'],
    ['only PK', 'PK', 'not a zip archive, or its end is missing'],
    ['an empty tar', Buffer.alloc(1024), 'holds no files'],
  ])('%s', async (_what, body, message) => {
    expect(await refused('application/octet-stream', body)).toContain(message)
  })

  test('the type says what is wrong with bytes that tell nothing', async () => {
    expect(await refused('application/x-gtar', 'nonsense'.repeat(100))).toContain('not a tar archive')
    expect(await refused('application/x-tgz', 'nonsense'.repeat(100))).toContain('gzip data is damaged')
    expect(await refused('application/x-zip', 'nonsense'.repeat(100))).toContain('not a zip archive')
    expect(await refused('application/x-bzip2', hex('425a68393141'))).toMatch(/^application\/x-bzip2 cannot/)
  })
})

describe('a form of files with one archive', () => {
  const ARCHIVES: [name: string, content: Uint8Array][] = [
    ['site.zip', zip(SITE)],
    ['deep/er/SITE.ZIP', zip(SITE)],
    ['site.tar', site],
    ['site.tar', v7],
    ['site.tar.gz', gzip(site)],
    ['site.tgz', gzip(site)],
  ]
  const fields = Object.entries(DOCS).map(([field, value]) => ({ field, value }))
  const send = (path: string, ...parts: Parameters<typeof form>) =>
    world.sendForm(path, world.keys.docs, ...fields, ...parts)

  test.each(ARCHIVES)('%s is refused with the two ways that publish it', async (file, content) => {
    // What was published before is still compressed in the background.
    await waitForVariants(world.ctx)
    const before = world.leftovers()
    const { status, body } = await send('/api/deployments', { file, content })
    expect([status, body.error]).toEqual([400, 'ARCHIVE_AS_FILE'])
    expect(body.message).toContain(JSON.stringify(file))
    expect(body.message).toContain('--data-binary @FILE')
    expect(body.message).toContain('/api/deployments?owner=')
    expect(body.message).toContain('/api/deployments/zip')
    expect(body.message).toContain('asFiles=true')
    expect(world.leftovers()).toEqual(before)
  })

  test.each(ARCHIVES)(
    '%s is published as a file for those who say so, and by assets/upload',
    async (file, content) => {
      const asFiles = { field: 'asFiles', value: 'true' }
      expect((await send('/api/deployments', { file, content }, asFiles)).status).toBe(201)
      expect((await send('/api/assets/upload', { file, content })).status).toBe(201)
    },
  )

  test('a large one, of which the beginning comes alone, and a name that only filePaths gives', async () => {
    const content = zip({ 'index.html': 'A', 'noise.bin': crypto.getRandomValues(new Uint8Array(60_000)) })
    const padded = Buffer.concat([content, Buffer.alloc(300_000)])
    expect((await send('/api/deployments', { file: 'a.zip', content: padded })).body.error).toBe(
      'ARCHIVE_AS_FILE',
    )
    const filePaths = { field: 'filePaths', value: '["get/site.zip"]' }
    expect((await send('/api/deployments', { file: 'blob', content }, filePaths)).body.error).toBe(
      'ARCHIVE_AS_FILE',
    )
    const hidden = { file: '.DS_Store', content: 'x' }
    expect((await send('/api/deployments', hidden, { file: 'a.zip', content })).body.error).toBe(
      'ARCHIVE_AS_FILE',
    )
  })

  test.each<[what: string, ...Parameters<typeof form>]>([
    ['by its bytes only', { file: 'site.bin', content: zip(SITE) }],
    ['by its name only', { file: 'site.zip', content: 'no zip' }],
    ['among others', { file: 'site.zip', content: zip(SITE) }, { file: 'index.html', content: 'A' }],
    ['of another format', { file: 'site.tar.xz', content: hex('fd377a585a00') }],
  ])('an archive %s is a file', async (_what, ...parts) => {
    const commitSha = { field: 'commitSha', value: Bun.SHA1.hash(_what, 'hex') }
    const target = fields.filter(({ field }) => field !== 'commitSha')
    const answer = await world.sendForm('/api/deployments', world.keys.docs, ...target, commitSha, ...parts)
    expect(answer.status).toBe(201)
  })

  test.each<[name: string, content: Uint8Array, message: string]>([
    ['a.tar', site, 'takes a zip, and the file is a tar archive: send it as the raw body'],
    ['a.tar', v7, 'takes a zip, and the file is a tar archive: send it as the raw body'],
    ['a.zip', gzip(site), 'takes a zip, and the file is gzip, as a tar.gz is: send it as the raw body'],
    ['a.zip', hex('377abcaf271c0004'), 'The file is 7z, which is not read: send a zip'],
  ])('%s that is none, in the form for a zip', async (file, content, message) => {
    // What was published before is still compressed in the background.
    await waitForVariants(world.ctx)
    const before = world.leftovers()
    const { status, body } = await send('/api/deployments/zip', { file, content })
    expect([status, body.message]).toEqual([400, expect.stringContaining(message)])
    expect(world.leftovers()).toEqual(before)
  })
})
