import { beforeAll, expect, test } from 'bun:test'
import { STORE_KEYS } from '../../testing/object-server.ts'
import { openObjectStore, type StoreError, type StoreOptions } from '../object-store.ts'
import { initStore } from './init.ts'

/** Against the real store that `npm run test:store` starts. */
const endpoint = process.env['SVC_TEST_STORE'] ?? ''
const bucket = `svc-${Bun.randomUUIDv7()}`
const open = (own: Partial<StoreOptions> = {}) =>
  openObjectStore({
    ...STORE_KEYS,
    bucket,
    prefix: 'a b/',
    endpoint,
    timeoutMs: 5_000,
    now: Date.now,
    writer: 'w1',
    ...own,
  })
const bytes = (text: string) => new TextEncoder().encode(text)
const kindOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: StoreError) => error.kind,
  )

beforeAll(async () => {
  expect(endpoint).toStartWith('http://')
  expect(await kindOf(open().head('x'))).toBe('no_bucket')
  await open().createBucket()
  await open().createBucket()
})

test('the store honours If-None-Match', () => open().probe('probe'))

test('of ten that create one key at once, one does', async () => {
  const writers = Array.from({ length: 10 }, (_, i) => open({ writer: `w${i}` }))
  const made = await Promise.all(
    writers.map((store) => store.create('race', bytes(store.writer), { epoch: 1 })),
  )
  const winners = writers.filter((_, i) => made[i]?.outcome === 'created')
  expect(winners).toHaveLength(1)
  const stored = await open().get('race', 10)
  expect(stored).toMatchObject({ bytes: bytes(winners[0]?.writer ?? ''), epoch: 1 })
})

test('objects, ranges, files, heads and lists come back as they were written', async () => {
  const store = open()
  await store.create('x', bytes('hello world'), { epoch: 3 })
  expect(await store.create('x', bytes('hello world'), { epoch: 3 })).toEqual({ outcome: 'created' })
  expect(await store.create('x', bytes('other'), { epoch: 3 })).toMatchObject({ outcome: 'exists', epoch: 3 })
  expect(await store.getRange('x', 6, 100)).toEqual({ bytes: bytes('world'), totalBytes: 11 })
  expect(await store.create('file', Bun.file(import.meta.path), { epoch: 3 })).toEqual({ outcome: 'created' })
  expect(await store.create('file', Bun.file(import.meta.path), { epoch: 3 })).toEqual({ outcome: 'created' })
  expect((await store.head('file'))?.sizeBytes).toBe(Bun.file(import.meta.path).size)
  const names = Array.from({ length: 1_103 }, (_, i) => `l/${String(i).padStart(4, '0')} ü&+`)
  for (let i = 0; i < names.length; i += 50)
    await Promise.all(names.slice(i, i + 50).map((name) => store.put(name, bytes(''), { epoch: 1 })))
  expect(await Array.fromAsync(store.list('l/'), ({ key }) => key)).toEqual(names)
  await store.delete('x')
  await store.delete('x')
  expect(await store.head('x')).toBeNull()
})

test.each<[kind: string, own: Partial<StoreOptions>]>([
  ['access_key', { accessKey: 'nobody' }],
  ['signature', { secretKey: 'sesame' }],
  ['clock', { now: () => Date.now() - 3_600_000 }],
  ['no_bucket', { bucket: 'svc-nothing' }],
])('%s is told as what it is', async (kind, own) => {
  expect(await kindOf(open(own).get('x', 1))).toBe(kind as never)
})

test('of two that initialise one prefix at once, one does', async () => {
  const made = await Promise.all(
    ['a', 'b'].map((id) => initStore(open({ prefix: 'init/', writer: id }), id, Date.now())),
  )
  const ids = made.filter((one) => 'id' in one)
  expect(ids).toHaveLength(1)
  expect(await initStore(open({ prefix: 'init/', writer: 'c' }), 'c', Date.now())).toEqual({
    foundKey: 'svc.json',
  })
})
