import { placeOf, type StoreAddress } from './address.ts'
import { StoreError } from './error.ts'
import { type Refusal, readRefusal, refusalError } from './refusal.ts'
import { queryText, type Signer, sha256Of, signed } from './sign.ts'

export type ExchangeOptions = StoreAddress &
  Signer & {
    /** How long one request waits for the store. Bodies above 1 MiB get 2 s more for each. */
    timeoutMs: number
    /** For the time in signatures. */
    now: () => number
    /** Told of each request when it ended: its operation, `ok` or what went wrong, and how long it took. */
    onRequest?: (op: string, result: string, ms: number) => void
  }

/** Bytes in memory, or a file of known length, which is sent as it is read. */
export type Body = Uint8Array | Blob

export type StoreRequest = {
  /** What it is called in metrics and messages: "may not list in the bucket". */
  op: string
  method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  /** The key below the bucket; '' is the bucket. */
  fullKey: string
  query?: Readonly<Record<string, string>>
  headers?: Readonly<Record<string, string>>
  body?: Body
  /** Hex SHA-256 of the body, where it is known already. */
  bodySha256?: string
  signal?: AbortSignal | undefined
  /** How long it may take, where that is another time than its body's length says. */
  limitMs?: number
  /** By `performance.now()`: when the operation that it is part of is over. */
  deadline?: number
}

/** An answer whose body comes piece by piece. It must be read to its end, or be closed. */
export type OpenAnswer = { status: number; headers: Headers; pieces: AsyncGenerator<Uint8Array> }
export type Answer = { status: number; headers: Headers; bytes: Uint8Array }

const BYTES_OF_MORE_TIME = 2 ** 20
const MORE_TIME_MS = 2_000
/** Answers that are no object: errors, lists are bounded by the caller. */
const MAX_REFUSAL_BYTES = 256 * 1024

/** Sends one signed request to the bucket and never a second one. Throws `StoreError`, or the signal's reason. */
export class Exchange {
  readonly options: ExchangeOptions

  constructor(options: ExchangeOptions) {
    this.options = options
  }

  /** The whole answer, whatever its status. */
  async send(request: StoreRequest, maxBytes: number = MAX_REFUSAL_BYTES): Promise<Answer> {
    return this.#observed(request, async () => {
      const { status, headers, pieces } = await this.#open(request, 'whole')
      const limit = status < 300 ? maxBytes : MAX_REFUSAL_BYTES
      return { status, headers, bytes: await collect(pieces, lengthOf(headers), limit) }
    })
  }

  /** The head of the answer; its pieces may each take as long as a request may. */
  open(request: StoreRequest): Promise<OpenAnswer> {
    return this.#observed(request, () => this.#open(request, 'piece'))
  }

  /** What the store's refusal means. */
  errorOf({ op }: Pick<StoreRequest, 'op'>, answer: Answer): StoreError {
    return refusalError(this.refusalOf(answer), {
      bucket: this.options.bucket,
      op,
      now: this.options.now(),
    })
  }

  refusalOf({ status, headers, bytes }: Answer): Refusal {
    return readRefusal(status, headers, bytes)
  }

  async #open(request: StoreRequest, limited: 'whole' | 'piece'): Promise<OpenAnswer> {
    const limit = new Limit(this.#limitMs(request), request.signal)
    try {
      const response = await this.#fetch(request, limit.signal)
      const { status, headers } = response
      if (status < 300 && headers.get('content-type')?.startsWith('text/html') === true)
        throw new StoreError(
          'damaged',
          `${this.#name()} answers with HTML, as no object store does: check STORE_ENDPOINT`,
        )
      const isBodiless = request.method === 'HEAD'
      const length = isBodiless ? null : lengthOf(headers)
      return { status, headers, pieces: this.#pieces(response, length, limit, limited) }
    } catch (error) {
      limit.end()
      throw this.#asStoreError(error, request, limit)
    }
  }

  async #fetch(
    { method, fullKey, query = {}, headers = {}, body, bodySha256 }: StoreRequest,
    signal: AbortSignal,
  ): Promise<Response> {
    const { origin, host, path } = placeOf(this.options, fullKey)
    const payload = bodySha256 ?? (await sha256Of(body ?? new Uint8Array()))
    const own = signed({ method, host, path, query, headers, payload }, this.options, this.options.now())
    const search = queryText(query)
    return fetch(`${origin}${path}${search === '' ? '' : `?${search}`}`, {
      method,
      headers: { 'accept-encoding': 'identity', ...own },
      body: body instanceof Blob ? body : (body?.slice() ?? null),
      redirect: 'manual',
      decompress: false,
      timeout: false,
      proxy: false,
      signal,
    })
  }

  async *#pieces(
    { body }: Response,
    length: number | null,
    limit: Limit,
    limited: 'whole' | 'piece',
  ): AsyncGenerator<Uint8Array> {
    let received = 0
    const reader = body?.getReader()
    try {
      for (;;) {
        if (limited === 'piece') limit.begin()
        const next = await reader?.read()
        if (next === undefined || next.done) break
        if (limited === 'piece') limit.end()
        received += next.value.length
        yield next.value
      }
      if (length !== null && received !== length) throw shortBody(received, length)
    } catch (error) {
      throw this.#asStoreError(error, undefined, limit)
    } finally {
      limit.end()
      await reader?.cancel().catch(() => {})
    }
  }

  /** How long an operation with this body may take. */
  limitMs(body: Body | undefined): number {
    const size = body instanceof Blob ? body.size : (body?.length ?? 0)
    return this.options.timeoutMs + Math.floor(size / BYTES_OF_MORE_TIME) * MORE_TIME_MS
  }

  #limitMs({
    body,
    limitMs = this.limitMs(body),
    deadline = Number.POSITIVE_INFINITY,
  }: StoreRequest): number {
    return Math.max(0, Math.min(limitMs, Math.ceil(deadline - performance.now())))
  }

  #asStoreError(error: unknown, request: StoreRequest | undefined, limit: Limit): unknown {
    if (error instanceof StoreError || request?.signal?.aborted === true) return error
    if (limit.isOver)
      return new StoreError('unreachable', `${this.#name()} did not answer within ${limit.ms / 1000} s`)
    if (limit.signal.aborted) return error
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
    return new StoreError('unreachable', `${this.#name()} cannot be reached${code}`, { cause: error })
  }

  #name = (): string => `the object store at ${placeOf(this.options, '').origin}`

  async #observed<T extends { status: number }>({ op }: StoreRequest, work: () => Promise<T>): Promise<T> {
    const startedAt = performance.now()
    const tell = (result: string) => this.options.onRequest?.(op, result, performance.now() - startedAt)
    try {
      const answer = await work()
      tell(answer.status < 300 ? 'ok' : String(answer.status))
      return answer
    } catch (error) {
      tell(error instanceof StoreError ? error.kind : 'stopped')
      throw error
    }
  }
}

/** Aborts what takes too long, or what the caller gives up. */
class Limit {
  readonly ms: number
  readonly signal: AbortSignal
  isOver = false
  readonly #own = new AbortController()
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(ms: number, signal: AbortSignal | undefined) {
    this.ms = ms
    this.signal = signal === undefined ? this.#own.signal : AbortSignal.any([signal, this.#own.signal])
    this.begin()
  }

  begin(): void {
    this.end()
    this.#timer = setTimeout(() => {
      this.isOver = true
      this.#own.abort()
    }, this.ms)
  }

  end(): void {
    clearTimeout(this.#timer)
  }
}

export function lengthOf(headers: Headers): number | null {
  const text = headers.get('content-length')
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null
}

const shortBody = (received: number, length: number) =>
  new StoreError('damaged', `the object store announced ${length} bytes and sent ${received}`)

async function collect(
  pieces: AsyncGenerator<Uint8Array>,
  length: number | null,
  maxBytes: number,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const piece of pieces) {
    size += piece.length
    if (size > maxBytes)
      throw new StoreError(
        'too_large',
        `the object store sends ${length ?? size} bytes, and at most ${maxBytes} are expected`,
      )
    parts.push(piece)
  }
  const [only] = parts
  return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts)
}
