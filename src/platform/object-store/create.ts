import { StoreError } from './error.ts'
import type { Answer, Body, Exchange, StoreRequest } from './exchange.ts'
import { type Authorship, authorHeaders, headOf } from './object-head.ts'

/**
 * `created`: the object is there, and it is ours. `exists`: the key has another object; its `writer` is our own where
 * an earlier call of this start wrote other bytes.
 */
export type Created = { outcome: 'created' } | ({ outcome: 'exists' } & Authorship)

export type Creation = {
  fullKey: string
  body: Body
  writer: string
  epoch: number
  signal?: AbortSignal | undefined
}

/**
 * One try to create an object under a key that has none. What the store's answer leaves open is settled by reading the
 * object back. Throws a transient `StoreError` where there is none: then it can be tried again.
 */
export async function tryToCreate(exchange: Exchange, creation: Creation): Promise<Created> {
  const request = createRequest(creation)
  const answer = await exchange.send(request).catch(transientOnly)
  if (!(answer instanceof StoreError)) {
    if (isDone(answer)) return { outcome: 'created' }
    if (!isOpen(exchange, answer)) throw exchange.errorOf(request, answer)
  }
  const found = await readBack(exchange, creation)
  if (found !== null) return found
  throw answer instanceof StoreError
    ? answer
    : new StoreError('unreachable', `the object store did not create the object (${answer.status})`)
}

export const createRequest = ({ fullKey, body, writer, epoch, signal }: Creation): StoreRequest => ({
  op: 'create',
  method: 'PUT',
  fullKey,
  body,
  headers: { ...putHeaders(writer, epoch), 'if-none-match': '*' },
  signal,
})

export const putHeaders = (writer: string, epoch: number): Record<string, string> => ({
  'content-type': 'application/octet-stream',
  ...authorHeaders(writer, epoch),
})

/** Every store names an ETag; a 200 without one came from something else. */
export const isDone = ({ status, headers }: Answer): boolean => status < 300 && headers.get('etag') !== null

/** 412 too: the runtime may have sent the request twice, and the first may have been ours. */
function isOpen(exchange: Exchange, answer: Answer): boolean {
  const { status } = answer
  return (
    status < 300 || status === 409 || status === 412 || exchange.errorOf({ op: 'create' }, answer).isTransient
  )
}

function transientOnly(error: unknown): StoreError {
  if (error instanceof StoreError && error.isTransient) return error
  throw error
}

async function readBack(exchange: Exchange, creation: Creation): Promise<Created | null> {
  const { fullKey, body, writer, signal } = creation
  const request: StoreRequest = { op: 'head', method: 'HEAD', fullKey, signal }
  const answer = await exchange.send(request)
  if (answer.status === 404) return null
  if (answer.status !== 200) throw exchange.errorOf(request, answer)
  const { sizeBytes, ...author } = headOf(answer.headers)
  const size = body instanceof Blob ? body.size : body.length
  const isOurs =
    author.writer === writer &&
    sizeBytes === size &&
    (body instanceof Blob || (await hasBytes(exchange, creation)))
  return isOurs ? { outcome: 'created' } : { outcome: 'exists', writer: author.writer, epoch: author.epoch }
}

async function hasBytes(exchange: Exchange, { fullKey, body, signal }: Creation): Promise<boolean> {
  if (body instanceof Blob) return true
  const request: StoreRequest = { op: 'get', method: 'GET', fullKey, signal }
  const answer = await exchange.send(request, body.length)
  if (answer.status !== 200) throw exchange.errorOf(request, answer)
  return Buffer.compare(answer.bytes, body) === 0
}
