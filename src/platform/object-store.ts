import type { ByteStream } from './byte-stream.ts'
import { isKey } from './object-store/address.ts'
import { bodyOf, type Created, isDone, tryToCreate } from './object-store/create.ts'
import { StoreError } from './object-store/error.ts'
import {
  type Answer,
  type Body,
  Exchange,
  type ExchangeOptions,
  lengthOf,
  type StoreRequest,
} from './object-store/exchange.ts'
import { MAX_PAGE_BYTES, parseListPage } from './object-store/list-page.ts'
import { endUploads, uploadPieces } from './object-store/multipart.ts'
import { type Authorship, authorOf, headOf, type ObjectHead } from './object-store/object-head.ts'
import { patiently } from './object-store/patience.ts'
import { probeConditions } from './object-store/probe.ts'
import { noBucket } from './object-store/refusal.ts'
import { sha256Of } from './object-store/sign.ts'

export type { Created } from './object-store/create.ts'
export { StoreError, type StoreErrorKind } from './object-store/error.ts'
export type { Body } from './object-store/exchange.ts'
export type { Authorship, ObjectHead } from './object-store/object-head.ts'

export type StoreOptions = ExchangeOptions & {
  /** Random per start: what tells our objects from another's. */
  writer: string
}

export type StoreCall = {
  signal?: AbortSignal
  /** How long failures that may pass are tried again; `timeoutMs` unless said, 0 for one try. */
  patienceMs?: number
}
export type StoreWrite = StoreCall & { epoch: number }

export type StoredObject = Authorship & { bytes: Uint8Array }
export type StoredRange = { bytes: Uint8Array; totalBytes: number }
export type StoredStream = Authorship & { sizeBytes: number | null; pieces: AsyncGenerator<Uint8Array> }
export type ListedObject = { key: string; sizeBytes: number; modifiedAt: number | null }

/** The operator's S3-compatible store. Keys are those below its prefix. All throw `StoreError`. contract 18 §2. */
export type ObjectStore = {
  readonly writer: string
  /** How long one request waits. */
  readonly timeoutMs: number
  /** Creates an object under a key that has none. A transient error leaves open whether it did. */
  create(key: string, body: Body, write: StoreWrite): Promise<Created>
  /** Writes without a condition: for beats alone. */
  put(key: string, body: Body, write: StoreWrite): Promise<void>
  /**
   * Writes an object of any length as its bytes arrive, over one that is there. It is visible once it is whole. Waits
   * longer for a store that is away than the others.
   */
  upload(key: string, pieces: ByteStream, call?: StoreCall): Promise<{ sizeBytes: number }>
  /** Gives up uploads that were begun and left. */
  endUploads(prefix: string, isLeft: (key: string, startedAt: number) => boolean): Promise<void>
  get(key: string, maxBytes: number, call?: StoreCall): Promise<StoredObject | null>
  /** Shorter than `length` at the end of the object. */
  getRange(key: string, start: number, length: number, call?: StoreCall): Promise<StoredRange | null>
  /** Read it to its end or return it: an object as it arrives. */
  open(key: string, call?: StoreCall): Promise<StoredStream | null>
  head(key: string, call?: StoreCall): Promise<ObjectHead | null>
  /** In the order of keys, page by page as it is read; those after `after`. */
  list(prefix: string, options?: StoreCall & { after?: string }): AsyncGenerator<ListedObject>
  delete(key: string, call?: StoreCall): Promise<void>
  /** Throws `no_conditions` where `If-None-Match` is not honoured. `id` is new each time. */
  probe(id: string): Promise<void>
  /** One that is there already, and ours, is left as it is. */
  createBucket(): Promise<void>
}

export function openObjectStore(options: StoreOptions): ObjectStore {
  return new Store(options)
}

class Store implements ObjectStore {
  readonly writer: string
  readonly timeoutMs: number
  readonly #exchange: Exchange
  readonly #prefix: string

  constructor(options: StoreOptions) {
    this.writer = options.writer
    this.#exchange = new Exchange(options)
    this.#prefix = options.prefix
    this.timeoutMs = options.timeoutMs
  }

  async create(key: string, body: Body, { epoch, ...call }: StoreWrite): Promise<Created> {
    const creation = { ...(await this.#written(body, epoch)), fullKey: this.#full(key), signal: call.signal }
    return this.#patiently(call, (deadline) => tryToCreate(this.#exchange, { ...creation, deadline }), body)
  }

  async put(key: string, body: Body, { epoch, ...call }: StoreWrite): Promise<void> {
    const request = {
      ...this.#request('put', 'PUT', key, call),
      ...bodyOf(await this.#written(body, epoch)),
    }
    const attempt = async (deadline: number) => {
      const answer = await this.#exchange.send({ ...request, deadline })
      if (isDone(answer)) return
      if (answer.status < 300)
        throw new StoreError('damaged', 'the object store answered 200 without an ETag')
      throw this.#exchange.errorOf(request, answer)
    }
    await this.#patiently(call, attempt, body)
  }

  async upload(key: string, pieces: ByteStream, call: StoreCall = {}): Promise<{ sizeBytes: number }> {
    return { sizeBytes: await uploadPieces(this.#exchange, { ...call, fullKey: this.#full(key) }, pieces) }
  }

  endUploads(prefix: string, isLeft: (key: string, startedAt: number) => boolean): Promise<void> {
    return endUploads(this.#exchange, this.#prefix + prefix, (fullKey, startedAt) =>
      isLeft(fullKey.slice(this.#prefix.length), startedAt),
    )
  }

  get(key: string, maxBytes: number, call: StoreCall = {}): Promise<StoredObject | null> {
    const request = this.#request('get', 'GET', key, call)
    return this.#patiently(call, async (deadline) => {
      const answer = await this.#exchange.send({ ...request, deadline }, maxBytes)
      if (this.#isAbsent(answer)) return null
      this.#require(request, answer, 200)
      return { ...authorOf(answer.headers), bytes: answer.bytes }
    })
  }

  getRange(key: string, start: number, length: number, call: StoreCall = {}): Promise<StoredRange | null> {
    const headers = { range: `bytes=${start}-${start + length - 1}` }
    const request = { ...this.#request('range', 'GET', key, call), headers }
    return this.#patiently(call, async (deadline) => {
      const answer = await this.#exchange.send({ ...request, deadline }, length)
      if (this.#isAbsent(answer)) return null
      this.#require(request, answer, 206)
      return rangeOf(answer, start, length)
    })
  }

  open(key: string, call: StoreCall = {}): Promise<StoredStream | null> {
    const request = this.#request('get', 'GET', key, call)
    return this.#patiently(call, async (deadline) => {
      const { status, headers, pieces } = await this.#exchange.open({ ...request, deadline })
      if (status === 200) return { ...authorOf(headers), sizeBytes: lengthOf(headers), pieces }
      const answer = { status, headers, bytes: await restOf(pieces) }
      if (this.#isAbsent(answer)) return null
      throw this.#exchange.errorOf(request, answer)
    })
  }

  head(key: string, call: StoreCall = {}): Promise<ObjectHead | null> {
    const request = this.#request('head', 'HEAD', key, call)
    return this.#patiently(call, async (deadline) => {
      const answer = await this.#exchange.send({ ...request, deadline })
      if (answer.status === 404) return this.#requireBucket(call, deadline)
      this.#require(request, answer, 200)
      return headOf(answer.headers)
    })
  }

  async *list(prefix: string, options: StoreCall & { after?: string } = {}): AsyncGenerator<ListedObject> {
    const below = this.#prefix + prefix
    let last = options.after === undefined ? '' : this.#prefix + options.after
    const query = { 'list-type': '2', 'encoding-type': 'url', prefix: below }
    let from: Record<string, string> = last === '' ? {} : { 'start-after': last }
    for (;;) {
      const request: StoreRequest = {
        op: 'list',
        method: 'GET',
        fullKey: '',
        query: { ...query, ...from },
        signal: options.signal,
      }
      const page = await this.#patiently(options, async (deadline) => {
        const answer = await this.#exchange.send({ ...request, deadline }, MAX_PAGE_BYTES)
        this.#require(request, answer, 200)
        return parseListPage(answer.bytes, below, last)
      })
      for (const entry of page.entries) yield { ...entry, key: entry.key.slice(this.#prefix.length) }
      if (page.next === null) return
      last = page.entries.at(-1)?.key ?? last
      from = { 'continuation-token': page.next }
    }
  }

  async delete(key: string, call: StoreCall = {}): Promise<void> {
    const request = this.#request('delete', 'DELETE', key, call)
    await this.#patiently(call, async (deadline) => {
      const answer = await this.#exchange.send({ ...request, deadline })
      if (answer.status >= 300 && !this.#isAbsent(answer)) throw this.#exchange.errorOf(request, answer)
    })
  }

  probe(id: string): Promise<void> {
    let tries = 0
    return this.#patiently({}, (deadline) => {
      tries += 1
      return probeConditions(this.#exchange, this.#full(`probe/${id}-${tries}`), this.writer, deadline)
    })
  }

  createBucket(): Promise<void> {
    const request: StoreRequest = { op: 'create-bucket', method: 'PUT', fullKey: '', ...this.#ofRegion() }
    return this.#patiently({}, async (deadline) => {
      const answer = await this.#exchange.send({ ...request, deadline })
      if (answer.status < 300 || this.#exchange.refusalOf(answer).code === 'BucketAlreadyOwnedByYou') return
      throw this.#exchange.errorOf(request, answer)
    })
  }

  /** AWS asks for the region in every region but the first; others take a name that they do not know for an error. */
  #ofRegion(): Pick<StoreRequest, 'body'> {
    const { endpoint, region } = this.#exchange.options
    if (endpoint !== null || region === 'us-east-1') return {}
    const xml = `<CreateBucketConfiguration><LocationConstraint>${region}</LocationConstraint></CreateBucketConfiguration>`
    return { body: new TextEncoder().encode(xml) }
  }

  #patiently<T>(
    { patienceMs = this.timeoutMs, signal }: StoreCall,
    work: (deadline: number) => Promise<T>,
    body?: Body,
  ): Promise<T> {
    return patiently({ patienceMs, limitMs: this.#exchange.limitMs(body), signal }, work)
  }

  async #written(body: Body, epoch: number) {
    return { body, sha256: await sha256Of(body), writer: this.writer, epoch }
  }

  /** An answer to HEAD has no body that says whether the key or its bucket is missing. */
  async #requireBucket({ signal }: StoreCall, deadline: number): Promise<null> {
    const answer = await this.#exchange.send({ op: 'head', method: 'HEAD', fullKey: '', signal, deadline })
    if (answer.status !== 404) return null
    throw new StoreError('no_bucket', noBucket(this.#exchange.options.bucket, '404'))
  }

  #request(op: string, method: StoreRequest['method'], key: string, { signal }: StoreCall): StoreRequest {
    return { op, method, fullKey: this.#full(key), signal }
  }

  #full(key: string): string {
    const full = this.#prefix + key
    if (!isKey(full)) throw new StoreError('refused', `"${full}" is no key of an object`)
    return full
  }

  /** A 404 that does not say so may mean the bucket, or another server. */
  #isAbsent(answer: Answer): boolean {
    return answer.status === 404 && this.#exchange.refusalOf(answer).code === 'NoSuchKey'
  }

  #require(request: StoreRequest, answer: Answer, status: number): void {
    if (answer.status === status) return
    if (answer.status < 300)
      throw new StoreError('damaged', `the object store answered ${answer.status} instead of ${status}`)
    throw this.#exchange.errorOf(request, answer)
  }
}

function rangeOf({ headers, bytes }: Answer, start: number, length: number): StoredRange {
  const [, from, to, total] =
    /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/.exec(headers.get('content-range') ?? '') ?? []
  const totalBytes = Number(total)
  const end = Math.min(start + length, totalBytes)
  if (Number(from) !== start || Number(to) !== end - 1 || bytes.length !== end - start)
    throw new StoreError('damaged', 'the object store sent another range than was asked for')
  return { bytes, totalBytes }
}

const MAX_REFUSAL_BYTES = 64 * 1024

async function restOf(pieces: AsyncGenerator<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const piece of pieces) {
    parts.push(piece)
    size += piece.length
    if (size > MAX_REFUSAL_BYTES) break
  }
  return Buffer.concat(parts)
}
