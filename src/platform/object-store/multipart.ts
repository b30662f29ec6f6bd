import type { ByteStream } from '../byte-stream.ts'
import { bodyOf, isDone } from './create.ts'
import { StoreError } from './error.ts'
import type { Answer, Exchange, StoreRequest } from './exchange.ts'
import { authorship, headOf } from './object-head.ts'
import { patiently } from './patience.ts'
import { sha256 } from './sign.ts'
import { childText, parseXml } from './xml.ts'

export type UploadTarget = {
  fullKey: string
  signal?: AbortSignal | undefined
  patienceMs?: number | undefined
}

const MIB = 2 ** 20
const MAX_PARTS = 10_000
const PARTS_OF_ONE_SIZE = 1_000
/** An upload of hours outlasts a restart of the store. */
const TIMES_OF_PATIENCE = 6
/** A store may join parts for minutes before it answers. */
const TIMES_TO_JOIN = 30

/** Parts grow, so that the 10,000 that a store takes hold 1 TB and the first 7 GiB take no more memory than one of 8 MiB. */
export const partBytes = (number: number): number =>
  Math.min(160, 8 * 2 ** Math.floor((number - 1) / PARTS_OF_ONE_SIZE)) * MIB

/**
 * Writes an object of any length as its bytes arrive, over one that is there, and returns the length. It is visible once
 * it is whole; after a failure nothing of it stays, or the message says so.
 */
export async function uploadPieces(
  exchange: Exchange,
  target: UploadTarget,
  pieces: ByteStream,
): Promise<number> {
  const upload = new Upload(exchange, target)
  try {
    for await (const part of partsOf(pieces))
      if (part.number === 1 && part.isLast) await upload.putWhole(part.bytes)
      else await upload.putPart(part)
    await upload.complete()
    return upload.sizeBytes
  } catch (error) {
    throw (await upload.abort()) ? error : leftBehind(error)
  }
}

/** Ends the uploads below `fullPrefix` that `isLeft` says nobody goes on with; at most a page of them. */
export async function endUploads(
  exchange: Exchange,
  fullPrefix: string,
  isLeft: (fullKey: string, startedAt: number) => boolean,
): Promise<void> {
  const request: StoreRequest = {
    op: 'list',
    method: 'GET',
    fullKey: '',
    query: { uploads: '', prefix: fullPrefix },
  }
  const answer = await exchange.send(request, 8 * MIB)
  if (answer.status !== 200) throw exchange.errorOf(request, answer)
  const root = parseXml(new TextDecoder().decode(answer.bytes))
  if (root?.name !== 'ListMultipartUploadsResult')
    throw new StoreError('damaged', "the object store's list of uploads cannot be read")
  for (const one of root.children) {
    const fullKey = childText(one, 'Key') ?? ''
    const id = childText(one, 'UploadId') ?? ''
    const startedAt = Date.parse(childText(one, 'Initiated') ?? '')
    const isGood = one.name === 'Upload' && id !== '' && !Number.isNaN(startedAt)
    if (isGood && fullKey.startsWith(fullPrefix) && isLeft(fullKey, startedAt))
      await endUpload(exchange, fullKey, id)
  }
}

type Part = { number: number; bytes: Uint8Array; isLast: boolean }

/** The same memory holds each part in turn. */
async function* partsOf(pieces: ByteStream): AsyncGenerator<Part> {
  let number = 1
  let buffer = new Uint8Array(partBytes(number))
  let used = 0
  for await (const piece of pieces)
    for (let at = 0; at < piece.length; ) {
      if (used === buffer.length) {
        yield { number, bytes: buffer, isLast: false }
        used = 0
        number += 1
        if (buffer.length !== partBytes(number)) buffer = new Uint8Array(partBytes(number))
      }
      const taken = piece.subarray(at, at + buffer.length - used)
      buffer.set(taken, used)
      used += taken.length
      at += taken.length
    }
  yield { number, bytes: buffer.subarray(0, used), isLast: true }
}

class Upload {
  sizeBytes = 0
  readonly #exchange: Exchange
  readonly #target: UploadTarget
  /** What tells this upload's object from any other at its key. */
  readonly #writer = Bun.randomUUIDv7()
  readonly #etags: string[] = []
  #id: string | null = null

  constructor(exchange: Exchange, target: UploadTarget) {
    this.#exchange = exchange
    this.#target = target
  }

  async putWhole(bytes: Uint8Array): Promise<void> {
    const body = { body: bytes, sha256: sha256(bytes), writer: this.#writer, epoch: 0 }
    const request = this.#request('PUT', bodyOf(body))
    await this.#patiently(this.#exchange.limitMs(bytes), (deadline) => this.#etagOf({ ...request, deadline }))
    this.sizeBytes = bytes.length
  }

  async putPart({ number, bytes }: Part): Promise<void> {
    if (number > MAX_PARTS)
      throw new StoreError('refused', `more than ${MAX_PARTS} parts of one object are not taken by any store`)
    this.#id ??= await this.#begin()
    const query = { partNumber: String(number), uploadId: this.#id }
    const request = this.#request('PUT', { query, body: bytes, bodySha256: sha256(bytes) })
    const put = (deadline: number) => this.#etagOf({ ...request, deadline })
    this.#etags.push(await this.#patiently(this.#exchange.limitMs(bytes), put))
    this.sizeBytes += bytes.length
    // The request's copies of the part are collected too late by themselves: 30 MiB more at the peak of 1 GB.
    Bun.gc(true)
  }

  /** What the store's answer leaves open is settled by looking at the object. */
  async complete(): Promise<void> {
    if (this.#id === null) return
    const limitMs = TIMES_TO_JOIN * this.#exchange.options.timeoutMs
    const request = this.#request('POST', {
      query: { uploadId: this.#id },
      body: listOf(this.#etags),
      headers: { 'content-type': 'application/xml' },
      limitMs,
    })
    await this.#patiently(limitMs, async (deadline) => {
      const failure = await this.#exchange.send({ ...request, deadline }).then(
        (answer) => this.#failureOf(request, answer),
        (error: unknown) => error,
      )
      if (failure === null) return
      this.#target.signal?.throwIfAborted()
      if (!(await this.#isThere())) throw failure
    })
    this.#id = null
  }

  /** False where its parts may still be in the bucket. */
  async abort(): Promise<boolean> {
    if (this.#id === null) return true
    return endUpload(this.#exchange, this.#target.fullKey, this.#id).then(
      () => true,
      () => false,
    )
  }

  #begin(): Promise<string> {
    const headers = { 'content-type': 'application/octet-stream', ...authorship(this.#writer, 0) }
    const request = this.#request('POST', { query: { uploads: '' }, headers })
    return this.#patiently(this.#exchange.options.timeoutMs, async (deadline) => {
      const answer = await this.#exchange.send({ ...request, deadline })
      if (answer.status !== 200) throw this.#exchange.errorOf(request, answer)
      const root = parseXml(new TextDecoder().decode(answer.bytes))
      const id = root?.name === 'InitiateMultipartUploadResult' ? childText(root, 'UploadId') : undefined
      if (id === undefined || id === '') throw new StoreError('damaged', 'the object store began no upload')
      return id
    })
  }

  async #etagOf(request: StoreRequest): Promise<string> {
    const answer = await this.#exchange.send(request)
    const etag = answer.headers.get('etag')
    if (isDone(answer) && etag !== null) return etag
    if (answer.status < 300)
      throw new StoreError('damaged', `the object store answered ${answer.status} without an ETag`)
    throw this.#exchange.errorOf(request, answer)
  }

  /** A store that began to answer 200 tells in the body that it failed after all. */
  #failureOf(request: StoreRequest, answer: Answer): StoreError | null {
    if (answer.status >= 300) return this.#exchange.errorOf(request, answer)
    const root = parseXml(new TextDecoder().decode(answer.bytes).trim())
    if (root?.name === 'CompleteMultipartUploadResult') return null
    const { code } = this.#exchange.refusalOf(answer)
    if (code === '')
      return new StoreError('damaged', 'the object store did not say that the upload is complete')
    const status = /^(InternalError|ServiceUnavailable|SlowDown)$/.test(code) ? 500 : 400
    return this.#exchange.errorOf(request, { ...answer, status })
  }

  async #isThere(): Promise<boolean> {
    const request: StoreRequest = { op: 'head', method: 'HEAD', fullKey: this.#target.fullKey }
    const answer = await this.#exchange.send(request)
    if (answer.status === 404) return false
    if (answer.status !== 200) throw this.#exchange.errorOf(request, answer)
    const found = headOf(answer.headers)
    return found.writer === this.#writer && found.sizeBytes === this.sizeBytes
  }

  #patiently<T>(limitMs: number, work: (deadline: number) => Promise<T>): Promise<T> {
    const { signal, patienceMs } = this.#target
    const ofItself = Math.max(TIMES_OF_PATIENCE * this.#exchange.options.timeoutMs, 2 * limitMs)
    return patiently({ patienceMs: patienceMs ?? ofItself, limitMs, signal }, work)
  }

  #request(method: StoreRequest['method'], own: Partial<StoreRequest>): StoreRequest {
    const { fullKey, signal } = this.#target
    return { op: 'upload', method, fullKey, signal, ...own }
  }
}

function endUpload(exchange: Exchange, fullKey: string, uploadId: string): Promise<void> {
  const request: StoreRequest = { op: 'delete', method: 'DELETE', fullKey, query: { uploadId } }
  const limitMs = exchange.options.timeoutMs
  return patiently({ patienceMs: limitMs, limitMs, signal: undefined }, async (deadline) => {
    const answer = await exchange.send({ ...request, deadline })
    if (answer.status >= 300 && answer.status !== 404) throw exchange.errorOf(request, answer)
  })
}

const listOf = (etags: readonly string[]): Uint8Array =>
  new TextEncoder().encode(
    `<CompleteMultipartUpload>${etags
      .map((etag, i) => `<Part><PartNumber>${i + 1}</PartNumber><ETag>${escaped(etag)}</ETag></Part>`)
      .join('')}</CompleteMultipartUpload>`,
  )

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

function leftBehind(error: unknown): Error {
  const note = 'what was sent stays in the bucket as an incomplete upload'
  if (error instanceof StoreError)
    return new StoreError(error.kind, `${error.message}; ${note}`, { code: error.code, cause: error })
  return new Error(`${error instanceof Error ? error.message : String(error)}; ${note}`, { cause: error })
}
