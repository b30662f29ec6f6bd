import { expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDb } from '../db/open.ts'
import { STORE_KEYS } from '../testing/object-server.ts'
import { writeBackup } from './backup.ts'
import { objectSource, objectTarget } from './backup-object.ts'
import { openObjectStore } from './object-store.ts'
import { restoreBackup } from './restore.ts'

/** Against the real store that `npm run test:store` starts. */
const endpoint = process.env['SVC_TEST_STORE'] ?? ''
const MIB = 2 ** 20

test('a backup goes in parts and comes back, over the one before; one that is stopped leaves no part', async () => {
  const root = mkdtempSync(join(tmpdir(), 'svc-backup-store-'))
  const data = join(root, 'data')
  const pack = 'blobs/packs/01.pack'
  mkdirSync(join(data, 'blobs/packs'), { recursive: true })
  writeFileSync(join(data, pack), new Bun.CryptoHasher('sha256').update('x').digest('hex').repeat(800_000))
  openDb(join(data, 'svc.db'), 1).close()
  const store = openObjectStore({
    ...STORE_KEYS,
    bucket: `svc-${Bun.randomUUIDv7()}`,
    prefix: 'of svc/',
    endpoint,
    timeoutMs: 10_000,
    now: Date.now,
    writer: 'w',
  })
  await store.createBucket()
  await store.upload('x.tar', new Blob([]).stream())
  const target = (stop?: AbortSignal) => objectTarget(store, 'x.tar', 's3', stop)
  for (let round = 0; round < 2; round++) await writeBackup(data, target(), 'x')
  expect((await store.head('x.tar'))?.sizeBytes).toBeGreaterThan(48 * MIB)

  const stopped = new AbortController()
  const halfway = async function* () {
    for (let i = 0; i < 40; i++) {
      if (i === 30) stopped.abort(new Error('it was interrupted'))
      yield new Uint8Array(MIB)
    }
  }
  await expect(store.upload('y.tar', halfway(), { signal: stopped.signal })).rejects.toThrow(
    /^it was interrupted$/,
  )
  expect(await store.head('y.tar')).toBeNull()
  const left: string[] = []
  await store.endUploads('', (key) => left.push(key) > 0)
  expect(left).toEqual([])

  await store.upload('mine', new Blob(['precious']).stream())
  await expect(writeBackup(data, objectTarget(store, 'mine', 's3', undefined), 'x')).rejects.toThrow(
    'is not a backup',
  )
  const into = join(root, 'into')
  expect(await restoreBackup(objectSource(store, 'x.tar', 's3'), into, 'y')).toEqual({
    files: 2,
    hasContents: true,
  })
  expect(readFileSync(join(into, pack)).equals(readFileSync(join(data, pack)))).toBe(true)
  rmSync(root, { recursive: true })
})
