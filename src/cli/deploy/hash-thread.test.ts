import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startHashThread } from './hash-thread.ts'

test('the thread hashes every file but large ones and those that are gone', async () => {
  const thread = startHashThread()
  if (thread === undefined) return expect(navigator.hardwareConcurrency).toBe(1)
  const folder = mkdtempSync(join(tmpdir(), 'svc-hash-'))
  const files = Array.from({ length: 100 }, (_, n) => `${n}.txt`).map((path) => ({
    path,
    absolutePath: join(folder, path),
  }))
  files.forEach(({ absolutePath }, place) => {
    writeFileSync(absolutePath, place === 7 ? Buffer.alloc(1024 * 1024 + 1) : `file ${place}`)
  })
  const shared = thread.share([{ path: 'gone', absolutePath: join(folder, 'gone') }, ...files])
  const found = await shared.results()
  expect([...found.keys()]).toEqual(files.map((_, place) => place + 1).filter((place) => place !== 8))
  const { mtimeMs, ctimeMs } = statSync(join(folder, '99.txt'))
  const sha256 = new Bun.CryptoHasher('sha256').update('file 99').digest('hex')
  expect(found.get(100)).toEqual({ size: 7, sha256, modifiedMs: mtimeMs, changedMs: ctimeMs })
  expect(shared.takeProgress()).toEqual([10 * 6 + 90 * 7 - 6, 99])
  thread.end()
  rmSync(folder, { recursive: true })
})
