import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BlobStore, openBlobStore } from '../blob-store.ts'
import { failureOf } from '../chunks.fixture.ts'

const hashOf = (bytes: Uint8Array) => Bun.SHA256.hash(bytes, 'hex')
const one = Buffer.from('one')
const two = Buffer.from('two')

let dataDir: string
let store: BlobStore
let ids = 0

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'svc-stage-'))
  store = await openBlobStore(dataDir, () => `id-${++ids}`)
})
afterEach(() => {
  store.close()
  rmSync(dataDir, { recursive: true })
})

const never = (): boolean => {
  throw new Error('looked for one by one')
}

test('what is expected is pinned, looked for once, and brought only where it is not stored', async () => {
  const stage = store.stage(never)
  stage.expect([hashOf(one), hashOf(two)], () => {
    expect(store.isPinned(hashOf(one)) && store.isPinned(hashOf(two))).toBe(true)
    return [hashOf(one), 'never expected']
  })
  for (const content of [one, two, two]) await stage.addSmall(content, hashOf(content))
  const stored = await stage.seal()
  expect(stored.map(({ sha256 }) => sha256)).toEqual([hashOf(two)])
  expect(stored[0] && Buffer.from(store.readSync(stored[0])).toString()).toBe('two')
  stage.release()
  expect(store.isPinned(hashOf(one)) || store.isPinned(hashOf(two))).toBe(false)
})

test('a stage that is given up holds on to nothing', async () => {
  const stage = store.stage(never)
  stage.expect([hashOf(one)], () => [])
  await stage.discard()
  expect(store.isPinned(hashOf(one))).toBe(false)
})

test('other bytes than expected are refused and not brought', async () => {
  const stage = store.stage(() => false)
  const failure = await failureOf(Promise.resolve().then(() => stage.addSmall(one, hashOf(two))))
  expect(failure).toMatchObject({ kind: 'invalid' })
  expect(await stage.seal()).toEqual([])
})
