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

const never = (): never => {
  throw new Error('looked for one by one')
}

test('expected contents are pinned, looked up once, and written only if they are not stored', async () => {
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

test('a discarded stage keeps no pins', async () => {
  const stage = store.stage(never)
  stage.expect([hashOf(one)], () => [])
  await stage.discard()
  expect(store.isPinned(hashOf(one))).toBe(false)
})

test('bytes that do not match the expected hash are rejected and not stored', async () => {
  const stage = store.stage(() => 'absent')
  const failure = await failureOf(Promise.resolve().then(() => stage.addSmall(one, hashOf(two))))
  expect(failure).toMatchObject({ kind: 'invalid' })
  expect(await stage.seal()).toEqual([])
})
