import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { openDb } from '../db/open.ts'
import { readMarker } from '../db/replication/marker.ts'
import { writeWholeLtx } from '../db/stored-workspace/whole-ltx.ts'
import { lockDataDir } from '../platform/instance-lock.ts'
import { randomBytes } from '../platform/random.ts'
import { type ObjectServer, STORE_KEYS, startObjectServer } from '../testing/object-server.ts'
import { createTestCa } from '../testing/test-ca.ts'
import { checkCommand } from './check.ts'
import { restoreCommand } from './restore.ts'
import { runCommand } from './run-command.ts'
import { storeCommand } from './store.ts'
import { testIo } from './testing/test-io.ts'

let root = ''
let server: ObjectServer
const at = (...names: string[]) => join(root, ...names)

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'svc-store-'))
  server = startObjectServer()
  server.pageKeys = 2
})
afterEach(async () => {
  await server.stop()
  rmSync(root, { recursive: true })
})

const commands = { store: () => storeCommand, restore: () => restoreCommand, check: () => checkCommand }

async function svc(line: string, own: Record<string, string> = {}) {
  const env = {
    DATA_DIR: at('data'),
    STORE_URL: 's3://bucket/p',
    STORE_ENDPOINT: server.endpoint,
    STORE_ACCESS_KEY: STORE_KEYS.accessKey,
    STORE_SECRET_KEY: STORE_KEYS.secretKey,
    STORE_TIMEOUT_SECONDS: '1',
    ...own,
  }
  const io = testIo({ env: Object.fromEntries(Object.entries(env).filter(([, value]) => value !== '')) })
  const code = await runCommand(commands, line.split(' '), io, 'store')
  return { code, out: io.out(), err: io.err() }
}

const sha256 = (bytes: Uint8Array) => Bun.SHA256.hash(bytes, 'hex')
const small = ['one', '', 'three'].map((text) => new TextEncoder().encode(text))
const large = Uint8Array.from({ length: 2_000_000 }, (_, index) => index % 251)
const largePath = join('files', sha256(large).slice(0, 2), sha256(large))

/** A workspace with a pack, a second one, and a large content. */
function makeWorkspace(): void {
  const put = (path: string, bytes: Uint8Array) => {
    mkdirSync(dirname(at('data', 'blobs', path)), { recursive: true })
    writeFileSync(at('data', 'blobs', path), bytes)
  }
  mkdirSync(at('data'))
  const db = openDb(at('data', 'svc.db'), 0)
  const row = db.sqlite.query('INSERT INTO blobs (sha256, size_bytes, pack, offset) VALUES (?, ?, ?, ?)')
  let offset = 0
  for (const bytes of small) {
    row.run(sha256(bytes), bytes.length, 'pack-1', offset)
    // Bytes that no row names lie between.
    offset += bytes.length + 3
  }
  put('packs/pack-1.pack', Buffer.concat(small.flatMap((bytes) => [bytes, Buffer.from('---')])))
  row.run(sha256(randomOne), randomOne.length, 'pack-2', 0)
  put('packs/pack-2.pack', randomOne)
  row.run(sha256(large), large.length, null, 0)
  put(largePath, large)
  db.sqlite.run("INSERT INTO settings VALUES ('a', 'here', 1)")
  db.close()
  writeFileSync(at('data', 'reserve'), randomBytes(4096))
}
const randomOne = randomBytes(300_000)

const keys = () => [...server.objects.keys()].sort()
const fileKey = () => keys().find((key) => key.startsWith('p/files/')) ?? ''
const setting = (folder: string) => {
  const sqlite = new Database(at(folder, 'svc.db'))
  const value = sqlite.query<{ value: string }, []>('SELECT value FROM settings').get()?.value
  sqlite.close()
  return value
}

async function pushed(): Promise<string> {
  makeWorkspace()
  const { out } = await svc('store init')
  expect(await svc('store push')).toEqual({
    code: 0,
    out: '',
    err: 'the store has 3 objects of contents (3 MB sent now) and the database\n',
  })
  return out.trim()
}

test('init prints the id once; flags belong to their verb', async () => {
  const { code, out } = await svc('store init')
  expect([code, keys()]).toEqual([0, ['p/svc.json']])
  expect(JSON.parse(new TextDecoder().decode(server.objects.get('p/svc.json')?.bytes))).toMatchObject({
    format: 'ltx',
    version: 1,
    id: out.trim(),
  })
  expect(await svc('store init')).toMatchObject({ code: 1 })
  for (const line of ['store', 'store pull', 'store init now', 'store init --quick', 'store check --json'])
    expect(await svc(line)).toMatchObject({ code: 2 })
})

describe('push', () => {
  test('moves the workspace, and restore brings it back as one without a store', async () => {
    const id = await pushed()
    expect(keys()).toEqual([
      'p/db/0000/0000000000000001-0000000000000001.ltx',
      expect.stringMatching(new RegExp(`^p/files/${sha256(large)}-[0-9a-f-]{36}$`)),
      'p/packs/pack-1',
      'p/packs/pack-2',
      'p/svc.json',
    ])
    expect(readMarker(at('data'))).toEqual({ store: id, number: 1, seen: 1, isWhole: true })
    expect(existsSync(at('data', 'blobs', largePath))).toBe(true)
    expect(await svc('store check')).toEqual({ code: 0, out: 'all is well\n', err: '' })
    expect(await svc('store check --quick')).toEqual({ code: 0, out: 'all is well\n', err: '' })

    server.isReadOnly = true
    const before = new Map(server.objects)
    const restored = await svc('restore s3://bucket/p', { STORE_URL: '', DATA_DIR: at('other') })
    expect([restored.code, restored.out]).toEqual([0, ''])
    expect(server.objects).toEqual(before)
    expect(readdirSync(at('other')).sort()).toEqual(['blobs', 'svc.db'])
    for (const path of ['packs/pack-1.pack', 'packs/pack-2.pack', largePath])
      expect(readFileSync(at('other', 'blobs', path)).equals(readFileSync(at('data', 'blobs', path)))).toBe(
        true,
      )
    expect(setting('other')).toBe('here')
    writeFileSync(at('other', 'reserve'), randomBytes(4096))
    expect(await svc('check', { STORE_URL: '', DATA_DIR: at('other') })).toMatchObject({ code: 0 })
  })

  test('goes on where it stopped, and what another push left is not sent again', async () => {
    makeWorkspace()
    await svc('store init')
    let puts = 0
    server.fault = ({ method, key }) => {
      if (method !== 'PUT') return undefined
      puts += 1
      return key.endsWith('.ltx') ? { status: 403, code: 'AccessDenied' } : undefined
    }
    expect(await svc('store push')).toMatchObject({ code: 78 })
    const contents = keys()
    expect(contents).toHaveLength(4)
    expect(readMarker(at('data'))).toBeNull()
    server.fault = ({ method }) => {
      if (method === 'PUT') puts += 1
      return undefined
    }
    puts = 0
    expect(await svc('store push')).toMatchObject({ code: 0 })
    expect(puts).toBe(1)
    expect(keys().filter((key) => !key.includes('/db/'))).toEqual(contents)
    // Ended before the directory was marked.
    rmSync(at('data', 'replica.json'))
    expect(await svc('store push')).toMatchObject({ code: 0 })
    expect(puts).toBe(1)
    expect(readMarker(at('data'))?.number).toBe(1)
    expect(readdirSync(at('data', 'tmp'))).toEqual([])
  })

  test('a database already there, a running server, no store and another content are refused', async () => {
    makeWorkspace()
    expect(await svc('store push')).toMatchObject({
      code: 78,
      err: expect.stringContaining('svc store init'),
    })
    await svc('store init')
    const lock = lockDataDir(at('data'))
    expect(await svc('store push')).toMatchObject({
      code: 1,
      err: expect.stringContaining('a server is running'),
    })
    lock?.release()
    server.objects.set('p/packs/pack-1', { bytes: new Uint8Array(9), headers: {} })
    expect(await svc('store push')).toMatchObject({
      code: 1,
      err: expect.stringContaining('another "packs/pack-1"'),
    })
    server.objects.delete('p/packs/pack-1')
    rmSync(at('data', 'blobs', largePath))
    expect(await svc('store push')).toMatchObject({
      code: 1,
      err: expect.stringContaining('is missing: svc check'),
    })
    writeFileSync(at('data', 'blobs', largePath), large)
    expect(await svc('store push')).toMatchObject({ code: 0 })
    expect(await svc('store push')).toMatchObject({ code: 1, err: expect.stringContaining('already') })
    const before = keys()
    const other = openDb(at('data', 'svc.db'), 0)
    other.sqlite.run("UPDATE settings SET value = 'another'")
    other.close()
    rmSync(at('data', 'replica.json'))
    expect(await svc('store push')).toMatchObject({
      code: 1,
      err: expect.stringContaining('holds a database already'),
    })
    expect(keys()).toEqual(before)
    expect(await svc('store push', { DATA_DIR: at('none') })).toMatchObject({ code: 1 })
  })

  test('the local contents go only after a clean check', async () => {
    await pushed()
    const whole = server.objects.get('p/packs/pack-2')
    server.objects.set('p/packs/pack-2', { bytes: new Uint8Array(randomOne.length), headers: {} })
    expect(await svc('store push --remove-local')).toMatchObject({ code: 1 })
    expect(existsSync(at('data', 'blobs', largePath))).toBe(true)
    if (whole !== undefined) server.objects.set('p/packs/pack-2', whole)
    expect(await svc('store push --remove-local')).toMatchObject({ code: 0 })
    expect(readdirSync(at('data', 'blobs', 'packs'))).toEqual([])
    expect(readdirSync(at('data', 'blobs', 'files'))).toEqual([])
    expect(setting('data')).toBe('here')
  })
})

test('certificates move with the workspace, and come back byte for byte', async () => {
  makeWorkspace()
  await svc('store init')
  const files = { 'account-0123456789abcdef.json': '{"a":1}', 'host-a.sites.test.json': '{"b":1}' }
  const write = (name: string, text: string) => writeFileSync(at('data', 'certs', name), text)
  mkdirSync(at('data', 'certs'))
  for (const [name, text] of Object.entries(files)) write(name, text)
  write('left.tmp', 'of somebody else')
  server.fault = ({ key, method }) =>
    method === 'PUT' && key.endsWith('.ltx') ? { status: 403, code: 'AccessDenied' } : undefined
  expect((await svc('store push')).code).toBe(78)
  write('host-a.sites.test.json', '{"b":2}')
  server.fault = () => undefined
  expect((await svc('store push')).code).toBe(0)
  const certs = keys().filter((key) => key.startsWith('p/certs/'))
  expect(certs.map((key) => key.split('/')[2])).toEqual(Object.keys(files))
  server.objects.set('p/certs/strange', { bytes: new Uint8Array(1), headers: {} })
  const { code, err } = await svc('store check --quick')
  expect([code, err]).toEqual([0, 'note: "certs/strange" belongs to nothing\n'])
  // They are no certificates.
  expect(await svc('store check')).toMatchObject({
    code: 1,
    out: expect.stringContaining('certificate_damaged'),
  })
  expect((await svc('store status')).out).toContain('\ncerts     2 files')
  const restored = await svc('restore s3://bucket/p', { STORE_URL: '', DATA_DIR: at('other') })
  expect(restored).toMatchObject({ code: 0, err: expect.stringContaining('restored 6 files') })
  expect(readdirSync(at('other', 'certs')).sort()).toEqual(Object.keys(files))
  expect(readFileSync(at('other', 'certs', 'host-a.sites.test.json'), 'utf8')).toBe('{"b":2}')
})

test('status in both forms', async () => {
  const { out } = await svc('store init')
  const empty = await svc('store status --json')
  expect(JSON.parse(empty.out)).toEqual({
    id: out.trim(),
    url: 's3://bucket/p',
    format: 'ltx',
    primary: null,
    log: { first: null, last: null, bytes: 0 },
    base: null,
    contents: { objects: 0, bytes: 0 },
  })
  server.objects.clear()
  const id = await pushed()
  const log =
    server.objects.get('p/db/0000/0000000000000001-0000000000000001.ltx')?.bytes ?? new Uint8Array(0)
  server.objects.set('p/db/0000/0000000000000002-0000000000000002.ltx', {
    bytes: log,
    headers: { 'x-amz-meta-svc-epoch': '3' },
    modifiedAt: 5_000,
  })
  server.objects.set('p/beat/3', {
    bytes: new TextEncoder().encode('{"name":"a","url":"http://a:1"}'),
    headers: {},
  })
  server.objects.set('p/db/0009/0000000000000001-0000000000000002.ltx', {
    bytes: log,
    headers: {},
    modifiedAt: 1_000,
  })
  expect(JSON.parse((await svc('store status --json')).out)).toEqual({
    id,
    url: 's3://bucket/p',
    format: 'ltx',
    primary: {
      name: 'a',
      url: 'http://a:1',
      epoch: 3,
      lastSeenAt: '1970-01-01T00:00:05.000Z',
      isAlive: false,
    },
    log: { first: 1, last: 2, bytes: 2 * log.length },
    base: { last: 2, bytes: log.length, at: '1970-01-01T00:00:01.000Z' },
    contents: { objects: 3, bytes: large.length + randomOne.length + 17 },
  })
  const { code, out: text } = await svc('store status')
  expect([code, text.split('\n').map((line) => line.split(' ')[0])]).toEqual([
    0,
    ['store', 'primary', 'log', 'base', 'contents', ''],
  ])
  server.objects.set('p/beat/3', { bytes: new Uint8Array(0), headers: {}, modifiedAt: Date.now() })
  expect(JSON.parse((await svc('store status --json')).out).primary).toMatchObject({ isAlive: true })
  for (const body of ['[', '7', '{"name":7}']) {
    server.objects.set('p/beat/3', { bytes: new TextEncoder().encode(body), headers: {} })
    expect(JSON.parse((await svc('store status --json')).out).primary).toMatchObject({ name: null, epoch: 3 })
  }
})

describe('check', () => {
  const spoil = (key: string, change: (bytes: Uint8Array) => Uint8Array) => {
    const found = server.objects.get(key)
    if (found !== undefined)
      server.objects.set(key, { ...found, bytes: change(Uint8Array.from(found.bytes)) })
  }
  const flip = (bytes: Uint8Array) => bytes.with(1, (bytes[1] ?? 0) ^ 1)
  const cut = (bytes: Uint8Array) => bytes.slice(0, -4)

  test.each<[string, () => void, RegExp, quick: 0 | 1]>([
    [
      'a pack that is gone',
      () => server.objects.delete('p/packs/pack-1'),
      /"packs\/pack-1" is missing, with 3 contents/,
      1,
    ],
    [
      'a file that is gone',
      () => server.objects.delete(fileKey()),
      /"files\/.* is missing, with 1 content\n/,
      1,
    ],
    ['a pack that is cut', () => spoil('p/packs/pack-2', cut), /"packs\/pack-2" has 299996 bytes/, 1],
    [
      'a longer file',
      () => spoil(fileKey(), (bytes) => Buffer.concat([bytes, bytes])),
      /"files\/.* has 4000000 bytes/,
      1,
    ],
    [
      'a bit of a small content',
      () => spoil('p/packs/pack-1', flip),
      /in "packs\/pack-1" is another content/,
      0,
    ],
    ['a bit of a large content', () => spoil(fileKey(), flip), /in "files\/.* is another content/, 0],
    ['a bit of the log', () => spoil(keys()[0] ?? '', flip), /log_damaged: "db\/0000\/0000000000000001/, 1],
    [
      'a log that is gone',
      () => server.objects.delete(keys()[0] ?? ''),
      /there are 3 objects of contents/,
      1,
    ],
    [
      'a gap',
      () =>
        server.objects.set('p/db/0000/0000000000000003-0000000000000003.ltx', { bytes: large, headers: {} }),
      /"db\/0000\/0000000000000002-0000000000000002.ltx" is not there/,
      1,
    ],
    [
      'a base that is none',
      () =>
        server.objects.set('p/db/0009/0000000000000001-0000000000000001.ltx', { bytes: large, headers: {} }),
      /log_damaged: "db\/0009/,
      1,
    ],
  ])('names %s', async (_, damage, line, quick) => {
    await pushed()
    damage()
    const found = await svc('store check')
    expect(found.out + found.err).toMatch(line)
    expect(found.code).toBe(1)
    expect((await svc('store check --quick')).code).toBe(quick)
  })

  test('names each certificate and account that is damaged, in what it reads', async () => {
    await pushed()
    const { cert: certPem } = createTestCa().issue({ names: ['a.test'] })
    const put = (name: string, text: string, number = 1) => {
      const version = `0000000000000001-${String(number).padStart(16, '0')}`
      server.objects.set(`p/certs/${name}/${version}`, { bytes: new TextEncoder().encode(text), headers: {} })
    }
    const whole = { host: 'a.test', certPem, keySealed: 'sealed' }
    const waiting = { host: 'b.test', certPem: null, keySealed: null }
    put('host-a.test.json', 'an older one')
    put('host-a.test.json', JSON.stringify(whole), 2)
    put('host-b.test.json', JSON.stringify(waiting))
    put('account-1.json', JSON.stringify({ directory: 'https://ca.test/', keySealed: 'sealed' }))
    expect(await svc('store check')).toEqual({ code: 0, out: 'all is well\n', err: '' })
    const damaged = [
      ['host-c.json', ''],
      ['host-d.json', JSON.stringify({ ...whole, certPem: certPem.slice(0, 200) })],
      ['host-e.json', JSON.stringify({ ...whole, keySealed: null })],
      ['host-f.json', JSON.stringify([whole])],
      ['host-g.json', JSON.stringify({ ...whole, host: 7 })],
      ['account-2.json', JSON.stringify({ directory: 'https://ca.test/' })],
      ['account-3.json', '"'.repeat(300_000)],
    ] as const
    for (const [name, text] of damaged) put(name, text)
    const { code, out } = await svc('store check')
    expect(code).toBe(1)
    expect(
      out
        .trim()
        .split('\n')
        .map((line) => /^certificate_damaged: "certs\/([^/]+)/.exec(line)?.[1])
        .sort(),
    ).toEqual(damaged.map(([name]) => name).sort())
    expect((await svc('store check --quick')).code).toBe(0)
  })

  test('svc check on a machine checks its store, and what belongs to nothing is a note', async () => {
    await pushed()
    expect(await svc('check')).toEqual({ code: 0, out: 'all is well\n', err: '' })
    expect(await svc('check', { STORE_URL: '' })).toMatchObject({ code: 78 })
    server.objects.set('p/packs/none', { bytes: large, headers: {} })
    server.objects.set('p/db/0000/ffffffffffffffff-ffffffffffffffff.ltx', { bytes: large, headers: {} })
    expect(await svc('store check')).toEqual({
      code: 0,
      out: 'all is well\n',
      err: 'note: "db/0000/ffffffffffffffff-ffffffffffffffff.ltx" belongs to nothing\nnote: "packs/none" belongs to nothing\n',
    })
  })
})

describe('restore', () => {
  const restore = (own: Record<string, string> = {}) =>
    svc('restore s3://bucket/p', { STORE_URL: '', DATA_DIR: at('other'), ...own })

  test.each<[string, () => void, RegExp, code: number]>([
    [
      'a damaged content',
      () => server.objects.set('p/packs/pack-2', { bytes: large, headers: {} }),
      /"packs\/pack-2" in the object store is damaged: the content/,
      1,
    ],
    ['a missing content', () => server.objects.delete(fileKey()), /"files\//, 1],
    [
      'a damaged log',
      () => server.objects.set(keys()[0] ?? '', { bytes: large, headers: {} }),
      /"db\/0000\/.*damaged/,
      1,
    ],
    ['no svc.json', () => server.objects.delete('p/svc.json'), /no svc.json/, 78],
    [
      'a later version',
      () =>
        server.objects.set('p/svc.json', { bytes: new TextEncoder().encode('{"version":2}'), headers: {} }),
      /"svc.json".*version is 2/,
      1,
    ],
    [
      'a filled directory',
      () => {
        mkdirSync(at('other'))
        writeFileSync(at('other', 'mine'), '')
      },
      /is not empty/,
      1,
    ],
  ])('refuses %s and changes nothing', async (_, damage, why, code) => {
    await pushed()
    damage()
    const before = existsSync(at('other')) ? readdirSync(at('other')) : null
    const found = await restore()
    expect(found.err).toMatch(why)
    expect(found.code).toBe(code)
    expect(existsSync(at('other')) ? readdirSync(at('other')) : null).toEqual(before)
  })

  test('the store is in use: contents go, and the log goes on meanwhile', async () => {
    await pushed()
    const moved = await logOfMoved()
    server.fault = ({ key }) => {
      if (key !== 'p/packs/pack-2' || !server.objects.has(key)) return undefined
      server.objects.set('p/packs/pack-3', { bytes: randomOne, headers: {} })
      server.objects.set(keys()[0] ?? '', { bytes: moved, headers: {} })
      server.objects.delete(key)
      return undefined
    }
    expect(await restore()).toMatchObject({ code: 0 })
    expect(server.objects.has('p/packs/pack-2')).toBe(false)
    expect(existsSync(at('other', 'blobs', 'packs', 'pack-3.pack'))).toBe(true)
  })

  /** As garbage collection does: the contents of a pack are in another now. */
  async function logOfMoved(): Promise<Uint8Array> {
    const db = openDb(at('data', 'svc.db'), 0)
    db.sqlite.run("UPDATE blobs SET pack = 'pack-3' WHERE pack = 'pack-2'")
    db.sqlite.query('PRAGMA wal_checkpoint(TRUNCATE)').get()
    db.close()
    await writeWholeLtx(at('data', 'svc.db'), at('moved.ltx'), 0)
    return readFileSync(at('moved.ltx'))
  }

  test('needs keys, and an address that is one', async () => {
    expect(await restore({ STORE_SECRET_KEY: '' })).toMatchObject({
      code: 78,
      err: expect.stringContaining('STORE_SECRET_KEY'),
    })
    expect(await svc('restore s3://a:b@bucket/p')).toMatchObject({ code: 2 })
    expect(await svc('restore s3://bucket/../p')).toMatchObject({ code: 2 })
  })
})
