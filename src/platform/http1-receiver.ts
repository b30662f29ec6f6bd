import { BodyReader } from './http1-body-reader.ts'
import { BodyStream, type StreamOwner } from './http1-body-stream.ts'
import { HeadCollector } from './http1-head-collector.ts'
import { Http1Error, hasNoBody, parseResponseHead, type ResponseHead } from './http1-response-head.ts'

export type ReceivedBody = ReadableStream<Uint8Array> | Uint8Array | null

export interface ReceiverOwner extends StreamOwner {
  /** The final answer has begun; its body is whole where it came in the same packet. */
  answered(head: ResponseHead, body: ReceivedBody): void
  /** 101, and what came right behind it, which is no HTTP any more. */
  switched(head: ResponseHead, rest: Buffer): void
  /** The answer is whole; `isClean` when nothing came behind it. */
  done(isClean: boolean): void
}

const MOST_INTERIM_ANSWERS = 16

/** Reads the answer to one request. Every method throws `Http1Error` for an answer that is none. */
export class ResponseReceiver {
  /** Of the final answer, once it is there. */
  head: ResponseHead | null = null
  stream: BodyStream | null = null
  readonly #method: string
  readonly #owner: ReceiverOwner
  readonly #collector = new HeadCollector()
  #reader: BodyReader | null = null
  #interimAnswers = 0

  constructor(method: string, owner: ReceiverOwner) {
    this.#method = method
    this.#owner = owner
  }

  /** Not one byte has come. */
  get hasHeardNothing(): boolean {
    return this.head === null && this.#interimAnswers === 0 && this.#collector.isEmpty
  }

  receive(bytes: Buffer): void {
    if (this.#reader === null) this.#readHead(bytes)
    else this.#readBody(this.#reader, bytes)
  }

  /** The other end sends no more. True when that ended the answer, false when it cut it. */
  end(): boolean {
    if (this.head?.framing.kind !== 'close') return false
    this.stream?.finish()
    this.#owner.done(false)
    return true
  }

  /** Interim answers (100, 102, 103) are skipped. RFC 9110 §15.2. */
  #readHead(bytes: Buffer): void {
    let start = 0
    while (start < bytes.length) {
      const found = this.#collector.add(bytes, start)
      if (found === null) return
      start = found.end
      const head = parseResponseHead(found.text)
      if (isInterim(head)) this.#countInterim()
      else {
        this.#begin(head, bytes, start)
        return
      }
    }
  }

  #countInterim(): void {
    this.#interimAnswers += 1
    if (this.#interimAnswers > MOST_INTERIM_ANSWERS) throw new Http1Error('too many 1xx answers')
  }

  #begin(head: ResponseHead, bytes: Buffer, start: number): void {
    if (head.status === 101) this.#owner.switched(head, bytes.subarray(start))
    else this.#answer(head, bytes, start)
  }

  #answer(found: ResponseHead, bytes: Buffer, start: number): void {
    const head = hasNoBody(this.#method, found.status) ? { ...found, framing: NO_BODY } : found
    const reader = new BodyReader(head.framing)
    const pieces: Uint8Array[] = []
    const end = reader.read(bytes, start, (content) => pieces.push(content))
    this.head = head
    this.#reader = reader
    if (reader.isDone) {
      this.#owner.answered(head, whole(pieces))
      this.#owner.done(end === bytes.length)
    } else {
      this.stream = new BodyStream(this.#owner)
      this.#owner.answered(head, this.stream.readable)
      pieces.forEach(this.stream.push)
    }
  }

  #readBody(reader: BodyReader, bytes: Buffer): void {
    if (this.stream === null) throw new Http1Error('more than its answer')
    const end = reader.read(bytes, 0, this.stream.push)
    if (!reader.isDone) return
    this.stream.finish()
    this.#owner.done(end === bytes.length)
  }
}

const isInterim = ({ status }: ResponseHead) => status < 200 && status !== 101

const NO_BODY = { kind: 'none' } as const

function whole(pieces: readonly Uint8Array[]): Uint8Array | null {
  const [first] = pieces
  return pieces.length > 1 ? Buffer.concat(pieces) : (first ?? null)
}
