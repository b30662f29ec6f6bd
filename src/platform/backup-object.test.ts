import { afterAll, afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDb } from '../db/open.ts'
import { type ObjectServer, STORE_KEYS, startObjectServer } from '../testing/object-server.ts'
import { type BackupOptions, writeBackup } from './backup.ts'
import { fileTarget } from './backup-file.ts'
import { objectSource, objectTarget } from './backup-object.ts'
import { type ObjectStore, openObjectStore } from './object-store.ts'
import { fileSource, RestoreError, restoreBackup } from './restore.ts'

const root = mkdtempSync(join(tmpdir(), 'svc-backup-object-'))
const data = join(root, 'data')
const PACK = 'blobs/packs/01.pack'
const MIB = 2 ** 20

mkdirSync(join(data, 'blobs/packs'), { recursive: true })
writeFileSync(join(data, PACK), Buffer.alloc(20 * MIB, 'pack bytes'))
writeFileSync(join(data, 'secret.key'), 'key')
const db = openDb(join(data, 'svc.db'), 1)

let server: ObjectServer
let store: ObjectStore
let into: string
beforeEach(() => {
  server = startObjectServer()
  const own = { bucket: 'bucket', prefix: '', endpoint: server.endpoint, timeoutMs: 1_500, writer: 'w' }
  store = openObjectStore({ ...STORE_KEYS, ...own, now: Date.now })
  into = join(mkdtempSync(join(root, 'into-')), 'data')
})
afterEach(() => server.stop())
afterAll(() => {
  db.close()
  rmSync(root, { recursive: true })
})

const NAME = 's3://bucket/b/x.tar'
const write = (options: BackupOptions = {}) =>
  writeBackup(data, objectTarget(store, 'b/x.tar', NAME, options.stop), 'x', options)
const restore = (stop?: AbortSignal) =>
  restoreBackup(objectSource(store, 'b/x.tar', NAME), into, 'y', { stop })
const object = () => server.objects.get('b/x.tar')?.bytes ?? new Uint8Array()
const put = (bytes: Uint8Array) =>
  server.objects.set('b/x.tar', { bytes: new Uint8Array(bytes), headers: {} })
const leftHere = () => readdirSync(data, { recursive: true }).filter((name) => /backup/.test(String(name)))

test('a backup in a store is the same archive as in a file, and restores everything', async () => {
  const file = join(root, 'same.tar')
  await writeBackup(data, fileTarget(data, file, 'x'), 'x')
  const { sizeBytes, files } = await write()
  expect([sizeBytes, files]).toEqual([object().length, 3])
  expect(readFileSync(file).equals(object())).toBe(true)
  expect(await restore()).toEqual({ files: 3, hasContents: true })
  expect(readFileSync(join(into, PACK)).equals(readFileSync(join(data, PACK)))).toBe(true)
  expect(leftHere()).toEqual([])
})

test('an earlier backup and an empty object are replaced, and nothing else', async () => {
  put(Buffer.from(''))
  for (let round = 0; round < 2; round++) await write()
  for (const precious of ['p', 'precious bytes', `${'x'.repeat(3000)}svc-backup.json`]) {
    put(Buffer.from(precious))
    await expect(write()).rejects.toThrow(`${NAME} already exists and is not a backup`)
    expect(Buffer.from(object()).toString()).toBe(precious)
  }
})

test('a store that fails for good leaves nothing, here or there', async () => {
  server.fault = ({ query }) =>
    query.get('partNumber') === '2' ? { status: 403, code: 'AccessDenied' } : undefined
  await expect(write()).rejects.toThrow('may not upload in the bucket "bucket" (403 AccessDenied)')
  expect([server.objects.size, server.uploads.size, leftHere()]).toEqual([0, 0, []])
})

test('a stop leaves nothing, here or there, and the earlier backup as it was', async () => {
  await write()
  const before = Buffer.from(object())
  const stopped = new AbortController()
  server.fault = ({ query }) => {
    if (query.get('partNumber') === '2') stopped.abort(new Error('it was interrupted'))
    return undefined
  }
  await expect(write({ stop: stopped.signal })).rejects.toThrow('it was interrupted')
  expect(before.equals(object())).toBe(true)
  expect([server.uploads.size, leftHere()]).toEqual([0, []])
})

test('a connection that is cut while it is restored costs one range', async () => {
  await write()
  let ranges = 0
  server.fault = ({ headers }) => {
    if (headers.get('range') === null) return undefined
    ranges += 1
    return ranges % 2 === 0 ? { cut: true } : undefined
  }
  expect(await restore()).toEqual({ files: 3, hasContents: true })
  expect(ranges).toBeGreaterThan(5)
})

test('what is no whole backup changes nothing', async () => {
  await write()
  const whole = Buffer.from(object())
  const other = Buffer.from(whole)
  const at = other.indexOf('pack bytes')
  other[at] = (other[at] ?? 0) ^ 1
  for (const [bytes, message] of [
    [other, `${NAME} is damaged: its contents do not match its checksum`],
    [whole.subarray(0, 10 * MIB), `${NAME} cannot be read as a backup: `],
    [Buffer.concat([whole.subarray(0, -2048), Buffer.alloc(1024)]), `${NAME} is not a complete backup`],
    [Buffer.from('hello'), `${NAME} cannot be read as a backup`],
    [Buffer.alloc(0), `${NAME} is not a complete backup`],
  ] as const) {
    put(bytes)
    const refused = restore()
    await expect(refused).rejects.toBeInstanceOf(RestoreError)
    await expect(refused).rejects.toThrow(message)
    expect(readdirSync(join(into, '..'))).toEqual([])
  }
  server.objects.clear()
  await expect(restore()).rejects.toThrow(`${NAME} cannot be read as a backup: the bucket has no such object`)
})

test('one that is replaced while it is restored changes nothing', async () => {
  await write()
  const whole = Buffer.from(object())
  server.fault = ({ headers }) => {
    if (headers.get('range')?.startsWith('bytes=4194304-') === true)
      put(Buffer.concat([whole, Buffer.alloc(512)]))
    return undefined
  }
  await expect(restore()).rejects.toThrow('the object was replaced while it was read')
  expect(readdirSync(join(into, '..'))).toEqual([])
})

test('a stop while it is restored changes nothing', async () => {
  await write()
  const stopped = new AbortController()
  server.fault = ({ headers }) => {
    if (headers.get('range')?.startsWith('bytes=8388608-') !== true) return undefined
    stopped.abort(new Error('stop'))
    return { hang: 'before' }
  }
  await expect(restore(stopped.signal)).rejects.toThrow('it was interrupted, and nothing was changed')
  expect(readdirSync(join(into, '..'))).toEqual([])
})

test('without contents it says so when it is restored', async () => {
  const { sizeBytes, files } = await write({ withContents: false })
  expect(files).toBe(2)
  expect(sizeBytes).toBeLessThan(10 * MIB)
  expect(await restore()).toEqual({ files: 2, hasContents: false })
  expect(readdirSync(into).sort()).toEqual(['secret.key', 'svc.db'])
  const file = join(root, 'without.tar')
  await writeBackup(data, fileTarget(data, file, 'x'), 'x', { withContents: false })
  rmSync(into, { recursive: true })
  expect(await restoreBackup(fileSource(file), into, 'y')).toEqual({ files: 2, hasContents: false })
})
