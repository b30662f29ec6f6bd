import { StoreError } from './error.ts'
import type { Answer, Body, Exchange, StoreRequest } from './exchange.ts'
import { type Authorship, headOf, metadata, type ObjectHead } from './object-head.ts'

/**
 * `created`: the object is there, and it is ours. `exists`: the key has another object; its `writer` is our own where
 * an earlier call of this start wrote other bytes.
 */
export type Created = { outcome: 'created' } | ({ outcome: 'exists' } & Authorship)

export type Creation = {
  fullKey: string
  body: Body
  /** Hex SHA-256 of the body. */
  sha256: string
  writer: string
  epoch: number
  signal?: AbortSignal | undefined
  deadline?: number
}

/**
 * One try to create an object under a key that has none. What the store's answer leaves open is settled by reading the
 * object back. Throws a transient `StoreError` where there is none: then it can be tried again.
 */
export async function tryToCreate(exchange: Exchange, creation: Creation): Promise<Created> {
  const request = createRequest(creation)
  const answer = await exchange.send({ ...request, ...halfOfTime(creation) }).catch(transientOnly)
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

/** The other half is for reading back what a create that hangs may have done. */
function halfOfTime({ deadline }: Creation): { deadline?: number } {
  const now = performance.now()
  return deadline === undefined ? {} : { deadline: now + (deadline - now) / 2 }
}

export const createRequest = (creation: Creation): StoreRequest => ({
  op: 'create',
  method: 'PUT',
  ...bodyOf(creation, { 'if-none-match': '*' }),
  ...partOf(creation),
})

export const bodyOf = (
  { body, sha256, writer, epoch }: Omit<Creation, 'fullKey'>,
  condition: Record<string, string> = {},
): Pick<StoreRequest, 'body' | 'bodySha256' | 'headers'> => ({
  body,
  bodySha256: sha256,
  headers: {
    'content-type': 'application/octet-stream',
    ...metadata(writer, epoch, sha256),
    ...condition,
  },
})

/** What the requests of one operation share. */
const partOf = ({ fullKey, signal, deadline }: Creation) => ({
  fullKey,
  signal,
  ...(deadline !== undefined && { deadline }),
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
  const request: StoreRequest = { op: 'head', method: 'HEAD', ...partOf(creation) }
  const answer = await exchange.send(request)
  if (answer.status === 404) return null
  if (answer.status !== 200) throw exchange.errorOf(request, answer)
  const found = headOf(answer.headers)
  const isOurs = found.writer === creation.writer && (await hasOurBytes(exchange, creation, found))
  return isOurs ? { outcome: 'created' } : { outcome: 'exists', writer: found.writer, epoch: found.epoch }
}

/**
 * A file is taken for the one whose digest the store was told, and checked, when it came. Throws `damaged` where the store says
 * that it has our bytes, and sends others.
 */
async function hasOurBytes(exchange: Exchange, creation: Creation, found: ObjectHead): Promise<boolean> {
  const { body, sha256 } = creation
  if (body instanceof Blob) return found.sizeBytes === body.size && found.sha256 === sha256
  if (found.sizeBytes !== body.length || (found.sha256 !== null && found.sha256 !== sha256)) return false
  const request: StoreRequest = { op: 'get', method: 'GET', ...partOf(creation) }
  const answer = await exchange.send(request, body.length)
  if (answer.status !== 200) throw exchange.errorOf(request, answer)
  if (Buffer.compare(answer.bytes, body) === 0) return true
  if (found.sha256 === null) return false
  throw new StoreError(
    'damaged',
    `the object store sends other bytes of "${creation.fullKey}" than it was given`,
  )
}
