import { afterEach, beforeEach, expect, test } from 'bun:test'
import {
  type ObjectServer,
  STORE_KEYS,
  type StoreFault,
  startObjectServer,
} from '../../testing/object-server.ts'
import { type ObjectStore, openObjectStore, type StoreError } from '../object-store.ts'
import { partBytes } from './multipart.ts'

let server: ObjectServer
let store: ObjectStore

beforeEach(() => {
  server = startObjectServer()
  store = openStore(1_000)
})
afterEach(() => server.stop())

const openStore = (timeoutMs: number) =>
  openObjectStore({
    ...STORE_KEYS,
    bucket: 'bucket',
    prefix: 'a b/',
    endpoint: server.endpoint,
    timeoutMs,
    now: Date.now,
    writer: 'w1',
  })

const MIB = 2 ** 20
const LARGE = 9.5 * MIB

const PIECE = 1_000_003
/** As many bytes as repeat, and a piece more. */
const PATTERN = new Uint8Array(251 + PIECE).map((_, i) => i % 251)

/** Pieces of uneven lengths, whose bytes depend on where they are. */
function* pieces(sizeBytes: number): Generator<Uint8Array> {
  for (let at = 0; at < sizeBytes; at += PIECE) {
    const from = at % 251
    yield PATTERN.slice(from, from + Math.min(PIECE, sizeBytes - at))
  }
}
const stream = async function* (sizeBytes: number) {
  yield* pieces(sizeBytes)
}
const whole = (sizeBytes: number) => Buffer.concat([...pieces(sizeBytes)])
const stored = (key = 'a b/x') => Buffer.from(server.objects.get(key)?.bytes ?? [])
const failure = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: StoreError) => `${error.kind}: ${error.message}`,
  )

/** The first request of that kind meets `fault`, everything else a good store. */
function first(what: 'begin' | 'part' | 'complete' | 'put', fault: StoreFault): void {
  let isMet = false
  server.fault = ({ method, query }) => {
    const kind = query.has('uploads')
      ? 'begin'
      : query.get('partNumber') === '2'
        ? 'part'
        : method === 'POST'
          ? 'complete'
          : 'put'
    if (kind !== what || isMet || method === 'DELETE' || method === 'HEAD') return undefined
    isMet = true
    return fault
  }
}

test('10,000 parts hold 1 TB, and none takes more than 160 MiB', () => {
  const sizes = Array.from({ length: 10_000 }, (_, i) => partBytes(i + 1))
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeGreaterThan(1e12)
  expect([sizes[0], sizes[999], sizes[1_000], Math.max(...sizes)]).toEqual([
    8 * MIB,
    8 * MIB,
    16 * MIB,
    160 * MIB,
  ])
})

test.each([0, 1, 8 * MIB])('%d bytes are one PUT', async (sizeBytes) => {
  expect(await store.upload('x', stream(sizeBytes))).toEqual({ sizeBytes })
  expect(stored().equals(whole(sizeBytes))).toBe(true)
  expect(server.requests.map(({ method }) => method)).toEqual(['PUT'])
})

test.each([8 * MIB + 1, 16 * MIB, 17 * MIB])(
  '%d bytes are parts, seen when they are whole',
  async (sizeBytes) => {
    server.fault = () => {
      expect(server.objects.size).toBe(0)
      return undefined
    }
    expect(await store.upload('x', stream(sizeBytes))).toEqual({ sizeBytes })
    expect(stored().equals(whole(sizeBytes))).toBe(true)
    expect(server.uploads.size).toBe(0)
    expect(server.requests.filter(({ method }) => method === 'PUT')).toHaveLength(
      Math.ceil(sizeBytes / (8 * MIB)),
    )
  },
)

test('an object that is there is replaced, and none of its bytes stay', async () => {
  await store.upload('x', stream(9 * MIB))
  await store.upload('x', stream(1))
  expect(stored()).toHaveLength(1)
  await store.upload('x', stream(LARGE))
  expect(stored().equals(whole(LARGE))).toBe(true)
})

const passing: [name: string, fault: StoreFault][] = [
  ['500', { status: 500 }],
  ['500 afterwards', { status: 500, afterwards: true }],
  ['503 SlowDown', { status: 503, code: 'SlowDown' }],
  ['a page of HTML', { status: 200, headers: { 'content-type': 'text/html' }, body: '<html></html>' }],
  ['200 and nothing', { status: 200, afterwards: true }],
  ['no answer', { hang: 'before' }],
  ['no answer afterwards', { hang: 'after' }],
]
for (const what of ['begin', 'part', 'complete'] as const)
  test.each(passing)(`${what}: %s is got over`, async (_, fault) => {
    first(what, fault)
    // One that does not answer is waited for by a multiple of this.
    if ('hang' in fault) store = openStore(250)
    expect(await store.upload('x', stream(LARGE))).toEqual({ sizeBytes: LARGE })
    expect(stored().equals(whole(LARGE))).toBe(true)
  })

const errorBody = (code: string): StoreFault => ({
  status: 200,
  headers: { 'content-type': 'application/xml' },
  body: `<?xml version="1.0" encoding="UTF-8"?>\n  \n<Error><Code>${code}</Code></Error>`,
})

test('200 with an error in its body is a failure: of the store is tried again', async () => {
  first('complete', errorBody('InternalError'))
  await store.upload('x', stream(LARGE))
  expect(
    server.requests.filter(({ method, query }) => method === 'POST' && !query.has('uploads')),
  ).toHaveLength(2)
  expect(stored().equals(whole(LARGE))).toBe(true)
})

test('200 with any other error in its body fails, and gives the upload up', async () => {
  first('complete', errorBody('InvalidPart'))
  expect(await failure(store.upload('x', stream(LARGE)))).toMatch(/^refused: .*InvalidPart/)
  expect([server.objects.size, server.uploads.size]).toEqual([0, 0])
})

test('an older object at the key is not taken for the one that did not get done', async () => {
  await store.upload('x', stream(LARGE))
  server.fault = ({ method, query }) =>
    method === 'POST' && query.has('uploadId') ? { status: 500 } : undefined
  expect(await failure(store.upload('x', stream(LARGE), { patienceMs: 300 }))).toStartWith('unreachable')
})

test.each([
  [404, 'NoSuchUpload', 'refused'],
  [403, 'AccessDenied', 'denied'],
  [403, 'SignatureDoesNotMatch', 'signature'],
  [507, '', 'unreachable'],
])('a part that gets %d %s for good ends it', async (status, code, kind) => {
  server.fault = ({ query }) =>
    query.get('partNumber') === '2' ? { status, ...(code !== '' && { code }) } : undefined
  expect(await failure(store.upload('x', stream(LARGE), { patienceMs: 200 }))).toStartWith(`${kind}: `)
  expect([server.objects.size, server.uploads.size]).toEqual([0, 0])
})

test('a body that fails gives the upload up, and its own error is told', async () => {
  const failing = async function* () {
    yield* pieces(LARGE)
    throw new Error('the disk is gone')
  }
  await expect(store.upload('x', failing())).rejects.toThrow(/^the disk is gone$/)
  expect([server.objects.size, server.uploads.size]).toEqual([0, 0])
})

test('a stop in the middle gives the upload up', async () => {
  const stopped = new AbortController()
  server.fault = ({ query }) => {
    if (query.get('partNumber') !== '2') return undefined
    stopped.abort(new Error('it was interrupted'))
    return { hang: 'before' }
  }
  await expect(store.upload('x', stream(LARGE), { signal: stopped.signal })).rejects.toThrow(
    'it was interrupted',
  )
  expect([server.objects.size, server.uploads.size]).toEqual([0, 0])
})

test('parts that cannot be given up are told of', async () => {
  server.fault = ({ method, query }) =>
    method === 'DELETE' || query.get('partNumber') === '2' ? { status: 403, code: 'AccessDenied' } : undefined
  expect(await failure(store.upload('x', stream(LARGE)))).toMatch(
    /^denied: .*stays in the bucket as an incomplete upload$/,
  )
})

test('left uploads are ended by their own names alone', async () => {
  const begin = async (key: string) => {
    server.fault = ({ method, query }) =>
      method === 'DELETE' || query.get('partNumber') === '2'
        ? { status: 403, code: 'AccessDenied' }
        : undefined
    await failure(store.upload(key, stream(LARGE)))
    server.fault = () => undefined
  }
  for (const key of ['old', 'other', 'own/x']) await begin(key)
  const seen: [string, boolean][] = []
  await store.endUploads('o', (key, startedAt) => {
    seen.push([key, Math.abs(Date.now() - startedAt) < 60_000])
    return key === 'old'
  })
  expect(seen).toEqual([
    ['old', true],
    ['other', true],
    ['own/x', true],
  ])
  expect([...server.uploads.values()].map(({ key }) => key)).toEqual(['a b/other', 'a b/own/x'])
})
