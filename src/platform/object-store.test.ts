import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type ObjectServer,
  STORE_KEYS,
  type StoreFault,
  type StoreRequestSeen,
  startObjectServer,
} from '../testing/object-server.ts'
import { type ObjectStore, openObjectStore, type StoreError, type StoreOptions } from './object-store.ts'

let server: ObjectServer
let store: ObjectStore

const open = (own: Partial<StoreOptions> = {}) =>
  openObjectStore({
    ...STORE_KEYS,
    bucket: 'bucket',
    prefix: 'a b/',
    endpoint: server.endpoint,
    timeoutMs: 1_000,
    now: Date.now,
    writer: 'w1',
    ...own,
  })

beforeEach(() => {
  server = startObjectServer()
  store = open()
})
afterEach(() => server.stop())

const bytes = (text: string) => new TextEncoder().encode(text)
const once = { patienceMs: 0 }
const create = (text: string, from = store) => from.create('db/1', bytes(text), { epoch: 7 })
const stored = () => new TextDecoder().decode(server.objects.get('a b/db/1')?.bytes)
const kindOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: StoreError) => error.kind,
  )
/** The first PUT meets `fault`, everything else a good store. */
function firstPut(fault: StoreFault): void {
  let isFirst = true
  server.fault = ({ method }) => {
    if (method !== 'PUT' || !isFirst) return undefined
    isFirst = false
    return fault
  }
}

describe('create', () => {
  test('of two writers one creates, and the other learns whose object it is', async () => {
    expect(await create('one')).toEqual({ outcome: 'created' })
    expect(await create('two', open({ writer: 'w2' }))).toEqual({ outcome: 'exists', writer: 'w1', epoch: 7 })
    expect(await create('other bytes')).toEqual({ outcome: 'exists', writer: 'w1', epoch: 7 })
    expect(stored()).toBe('one')
  })

  test('the same writer with the same bytes has created it', async () => {
    await create('one')
    expect(await create('one')).toEqual({ outcome: 'created' })
  })

  const unknown: [name: string, fault: StoreFault][] = [
    ['500', { status: 500 }],
    ['503 SlowDown', { status: 503, code: 'SlowDown' }],
    ['409', { status: 409, code: 'ConditionalRequestConflict' }],
    ['200 without an ETag', { status: 200 }],
    [
      'an HTML page with 200',
      { status: 200, headers: { 'content-type': 'text/html' }, body: '<html></html>' },
    ],
    ['412 although it was ours', { status: 412, code: 'PreconditionFailed' }],
  ]
  test.each(unknown)('%s after success is success, and nothing is written twice', async (_, fault) => {
    firstPut({ ...fault, afterwards: true })
    expect(await create('one')).toEqual({ outcome: 'created' })
    expect(server.requests.filter(({ method }) => method === 'PUT')).toHaveLength(1)
    expect(stored()).toBe('one')
  })

  test.each(unknown)('%s before anything happened is tried again', async (_, fault) => {
    firstPut(fault)
    expect(await create('one')).toEqual({ outcome: 'created' })
    expect(stored()).toBe('one')
  })

  test.each(unknown)('%s while another wrote is the other one', async (_, fault) => {
    await create('another', open({ writer: 'w2' }))
    firstPut(fault)
    expect(await create('one')).toMatchObject({ outcome: 'exists', writer: 'w2' })
    expect(stored()).toBe('another')
  })

  test.each(unknown)('%s while another wrote the same bytes is the other one', async (_, fault) => {
    await create('one', open({ writer: 'w2' }))
    firstPut(fault)
    expect(await create('one')).toMatchObject({ outcome: 'exists', writer: 'w2' })
  })

  test.each(['before', 'after'] as const)('a hang %s success is settled in time', async (hang) => {
    firstPut({ hang })
    expect(await create('one')).toEqual({ outcome: 'created' })
    expect(stored()).toBe('one')
  })

  test('what a create that failed may have done is not taken for one of other bytes', async () => {
    server.fault = ({ method }) => (method === 'PUT' ? { status: 500, afterwards: true } : { hang: 'before' })
    expect(await kindOf(create('one'))).toBe('unreachable')
    server.fault = () => undefined
    expect(await create('two')).toMatchObject({ outcome: 'exists', writer: 'w1' })
    expect(stored()).toBe('one')
  })

  test('while the object cannot be read back nothing is claimed', async () => {
    server.fault = ({ method }) =>
      method === 'PUT' ? { status: 500, afterwards: true } : { status: 503, code: 'SlowDown' }
    expect(await kindOf(create('one'))).toBe('unreachable')
    server.fault = () => undefined
    expect(await create('one')).toEqual({ outcome: 'created' })
  })

  test.each<[name: string, fault: StoreFault]>([
    ['cut', { cut: true }],
    ['shorter than announced', { status: 200, headers: { 'content-length': '3' }, body: 'on' }],
  ])('a read-back that is %s claims nothing', async (_, fault) => {
    await create('one')
    server.fault = ({ method }) => (method === 'GET' ? fault : undefined)
    expect(['unreachable', 'damaged']).toContain(await kindOf(create('one')))
  })

  test('a file is known by its digest, not by its size', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-store-'))
    const file = (text: string) => {
      writeFileSync(join(folder, text), text)
      return Bun.file(join(folder, text))
    }
    try {
      firstPut({ status: 500, afterwards: true })
      expect(await store.create('files/1', file('one'), { epoch: 1 })).toEqual({ outcome: 'created' })
      expect(await store.create('files/1', file('two'), { epoch: 1 })).toMatchObject({ outcome: 'exists' })
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test.each<[name: string, fault: StoreFault]>([
    ['501', { status: 501, code: 'NotImplemented' }],
    ['400', { status: 400, code: 'InvalidArgument' }],
  ])('%s is a refusal at once', async (_, fault) => {
    server.fault = () => fault
    expect(await kindOf(create('one'))).toBe('refused')
    expect(server.requests).toHaveLength(1)
  })
})

describe('the probe', () => {
  const isPut = ({ method }: StoreRequestSeen) => method === 'PUT'
  test('a good store passes, and nothing is left', async () => {
    await store.probe('id')
    expect(server.objects.size).toBe(0)
  })

  test.each<[name: string, fault: StoreFault]>([
    ['ignores the condition', { ignoresCondition: true }],
    ['200 to both', { status: 200, headers: { etag: '"x"' } }],
    ['412 to both', { status: 412, code: 'PreconditionFailed' }],
    ['409 to both', { status: 409, code: 'ConditionalRequestConflict' }],
    ['501 to both', { status: 501, code: 'NotImplemented' }],
    ['400 to both', { status: 400, code: 'InvalidArgument' }],
    ['200 without an ETag', { status: 200 }],
  ])('a store that answers %s is refused by name', async (_, fault) => {
    server.fault = (request) => (isPut(request) ? fault : undefined)
    const error: StoreError = await store.probe('id').catch((error) => error)
    expect(error.kind).toBe('no_conditions')
    expect(error.message).toContain('If-None-Match')
  })

  test.each([200, 403, 404, 409, 500, 501])('%d to the second create is refused by name', async (status) => {
    server.fault = (request) =>
      isPut(request) && server.objects.size > 0 ? { status, headers: { etag: '"x"' } } : undefined
    const error: StoreError = await store.probe('id').catch((error) => error)
    expect(error.kind).toBe('no_conditions')
    expect(error.message).toContain('If-None-Match')
    expect(server.objects.size).toBe(0)
  })

  test.each<[kind: string, own: Partial<StoreOptions>]>([
    ['access_key', { accessKey: 'nobody' }],
    ['signature', { secretKey: 'sesame' }],
    ['region', { region: 'eu-west-1' }],
    ['clock', { now: () => Date.now() - 3_600_000 }],
    ['no_bucket', { bucket: 'nothing' }],
    ['unreachable', { endpoint: 'http://127.0.0.1:1' }],
  ])('%s is told as what it is, without the secret', async (kind, own) => {
    const error: StoreError = await open(own)
      .probe('id')
      .catch((error) => error)
    expect(error.kind).toBe(kind as never)
    expect(error.message).not.toMatch(/sesame|svcsecret|If-None-Match/)
  })

  test('a store that may only be read is told so', async () => {
    server.isReadOnly = true
    expect(await kindOf(store.probe('id'))).toBe('denied')
  })
})

describe('reading', () => {
  test('objects, ranges and heads come back as they were written', async () => {
    await create('hello world')
    expect(await store.get('db/1', 100)).toEqual({ bytes: bytes('hello world'), writer: 'w1', epoch: 7 })
    expect(await store.getRange('db/1', 6, 100)).toEqual({ bytes: bytes('world'), totalBytes: 11 })
    expect(await store.head('db/1')).toMatchObject({ sizeBytes: 11, writer: 'w1' })
    expect(await kindOf(store.get('db/1', 5))).toBe('too_large')
    for (const absent of [store.get('no', 1), store.head('no'), store.getRange('no', 0, 1), store.open('no')])
      expect(await absent).toBeNull()
  })

  test('a missing bucket is no missing object', async () => {
    const other = open({ bucket: 'nothing' })
    for (const read of [() => other.get('x', 1), () => other.head('x'), () => other.open('x')])
      expect(await kindOf(read())).toBe('no_bucket')
  })

  test('a 404 of another server is no missing object', async () => {
    server.fault = () => ({ status: 404, headers: { 'content-type': 'text/html' }, body: '<html></html>' })
    expect(await kindOf(store.get('x', 1))).toBe('refused')
  })

  test.each<[name: string, fault: StoreFault]>([
    ['an HTML page', { status: 200, headers: { 'content-type': 'text/html' }, body: '<html></html>' }],
    ['an answer cut in the middle', { cut: true }],
    ['500', { status: 500 }],
    ['503', { status: 503, code: 'SlowDown' }],
    ['a hang', { hang: 'before' }],
  ])('%s is tried again, and never an object', async (_, fault) => {
    await create('hello world')
    server.fault = () => fault
    expect(['unreachable', 'damaged']).toContain(await kindOf(store.get('db/1', 100, once)))
    let left = 1
    server.fault = () => (left-- > 0 && !('hang' in fault) ? fault : undefined)
    expect((await store.get('db/1', 100))?.bytes).toEqual(bytes('hello world'))
  })

  test('a range other than the one asked for is damage', async () => {
    const headers = { 'content-range': 'bytes 1-3/11' }
    server.fault = () => ({ status: 206, headers, body: 'ell' })
    expect(await kindOf(store.getRange('db/1', 0, 3, once))).toBe('damaged')
  })

  test('a list goes over all its pages, in order and below the prefix', async () => {
    server.pageKeys = 2
    const names = ['1', '2 ü&+', '3', '4', '5']
    for (const name of names) await store.put(`l/${name}`, bytes('x'), { epoch: 1 })
    await store.put('m', bytes('x'), { epoch: 1 })
    const keys = await Array.fromAsync(store.list('l/'), ({ key }) => key)
    expect(keys).toEqual(names.map((name) => `l/${name}`))
    expect(await Array.fromAsync(store.list('l/', { after: 'l/3' }), ({ key }) => key)).toEqual([
      'l/4',
      'l/5',
    ])
  })
})

test('one operation ends within the time that it has, whatever its requests wait for', async () => {
  server.fault = ({ method }) => (method === 'PUT' ? { status: 500 } : { hang: 'before' })
  server.delayMs = 2_000
  const startedAt = performance.now()
  expect(await kindOf(create('one', open({ timeoutMs: 3_000 })))).toBe('unreachable')
  // Each with 3 s of its own they would take 5.
  expect(performance.now() - startedAt).toBeLessThan(4_900)
})

test('a proxy of the environment is not used', async () => {
  const script = `const { openObjectStore } = await import(${JSON.stringify(join(import.meta.dir, 'object-store.ts'))})
    const given = JSON.parse(process.env.GIVEN)
    await openObjectStore({ ...given, now: Date.now, writer: 'w' }).head('x')`
  const given = { ...STORE_KEYS, bucket: 'bucket', prefix: '', endpoint: server.endpoint, timeoutMs: 2_000 }
  const proxy = 'http://127.0.0.1:1'
  const child = Bun.spawn([process.execPath, '-e', script], {
    env: { ...process.env, GIVEN: JSON.stringify(given), HTTP_PROXY: proxy, http_proxy: proxy, NO_PROXY: '' },
    stderr: 'inherit',
  })
  expect(await child.exited).toBe(0)
})
