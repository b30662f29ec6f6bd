import { BodyReader } from './body-reader.ts'
import { BodyStream, type StreamOwner } from './body-stream.ts'
import { HeadCollector } from './head-collector.ts'
import type { KnownHeads, ReadHead } from './known-heads.ts'
import { type Framing, Http1Error, hasNoBody, type ResponseHead } from './response-head.ts'

export type ReceivedBody = ReadableStream<Uint8Array> | Uint8Array | null

export interface ReceiverOwner extends StreamOwner {
  /** The final response has begun. Its body is bytes if it came at once. */
  onAnswer(read: ReadHead, body: ReceivedBody): void
  /** A 101, and the bytes right after it, which are no longer HTTP. */
  onSwitched(read: ReadHead, rest: Buffer): void
  /** The response is complete. `isClean` if nothing followed it. */
  onDone(isClean: boolean): void
}

const MAX_INTERIM_ANSWERS = 16
/**
 * Waits this long for the rest of a body of a few packets: passing on each packet costs more than all of them together.
 */
const GATHER_MS = 2
const MAX_GATHERED_BYTES = 128 * 1024

/** The response whose body is being gathered. */
type Gathered = { read: ReadHead; pieces: Uint8Array[]; timer: Timer | null }

/**
 * Reads the responses of a connection, one after the other. Every method throws `Http1Error` for an invalid response.
 */
export class ResponseReceiver {
  /** The head of the final response, once it has arrived. */
  head: ResponseHead | null = null
  stream: BodyStream | null = null
  #method = ''
  readonly #owner: ReceiverOwner
  readonly #known: KnownHeads
  readonly #collector = new HeadCollector()
  #reader: BodyReader | null = null
  #gathered: Gathered | null = null
  #interimAnswers = 0

  constructor(known: KnownHeads, owner: ReceiverOwner) {
    this.#known = known
    this.#owner = owner
  }

  /** Prepares for the response to a request with this method. The previous response must be complete. */
  expect(method: string): void {
    this.head = null
    this.stream = null
    this.#method = method
    this.#reader = null
    this.#interimAnswers = 0
  }

  /** Not a single byte has arrived. */
  get hasReceivedNothing(): boolean {
    return this.head === null && this.#interimAnswers === 0 && this.#collector.isEmpty
  }

  receive(bytes: Buffer): void {
    if (this.head === null) this.#readHead(bytes)
    else if (this.#reader === null) throw new Http1Error('more than its answer')
    else if (this.#gathered !== null) this.#gather(this.#gathered, this.#reader, bytes, 0)
    else this.#readBody(this.#reader, bytes)
  }

  /** The other end sends no more. True if that completed the response, false if it truncated it. */
  end(): boolean {
    if (this.stream === null || this.head?.framing.kind !== 'close') return false
    this.stream.finish()
    this.#owner.onDone(false)
    return true
  }

  /** The connection is gone: fails the stream and stops all reports. */
  fail(error: unknown): void {
    this.#endGathering()
    this.stream?.fail(error)
  }

  /** Skips interim responses (100, 102, 103). RFC 9110 §15.2. */
  #readHead(bytes: Buffer): void {
    let start = 0
    while (start < bytes.length) {
      const text = this.#collector.add(bytes, start)
      if (text === null) return
      start = this.#collector.end
      const read = this.#known.read(text)
      if (!isInterim(read.head)) {
        if (read.head.status === 101) this.#owner.onSwitched(read, bytes.subarray(start))
        else this.#answer(read, bytes, start)
        return
      }
      this.#countInterim()
    }
  }

  #countInterim(): void {
    this.#interimAnswers += 1
    if (this.#interimAnswers > MAX_INTERIM_ANSWERS) throw new Http1Error('too many 1xx answers')
  }

  #answer(read: ReadHead, bytes: Buffer, start: number): void {
    const { head } = read
    this.head = head
    const framing = hasNoBody(this.#method, head.status) ? NO_BODY : head.framing
    const length = lengthOf(framing)
    const end = start + length
    if (end <= bytes.length) {
      this.#owner.onAnswer(read, length === 0 ? null : bytes.subarray(start, end))
      this.#owner.onDone(end === bytes.length)
      return
    }
    const gathered: Gathered = { read, pieces: [], timer: null }
    this.#gathered = gathered
    this.#reader = new BodyReader(framing)
    this.#gather(gathered, this.#reader, bytes, start)
    if (this.#gathered !== gathered) return
    if (length > MAX_GATHERED_BYTES) this.#answerInPieces(gathered)
    else gathered.timer = setTimeout(() => this.#answerInPieces(gathered), GATHER_MS)
  }

  #gather(gathered: Gathered, reader: BodyReader, bytes: Buffer, start: number): void {
    const end = reader.read(bytes, start, (content) => gathered.pieces.push(content))
    if (!reader.isDone) return
    this.#endGathering()
    this.#owner.onAnswer(gathered.read, joined(gathered.pieces))
    this.#owner.onDone(end === bytes.length)
  }

  /** Passes on what has arrived, and the rest as it arrives. */
  #answerInPieces({ read, pieces }: Gathered): void {
    this.#endGathering()
    this.stream = new BodyStream(this.#owner)
    this.#owner.onAnswer(read, this.stream.readable)
    this.stream.pushAll(pieces)
  }

  #endGathering(): void {
    if (this.#gathered?.timer) clearTimeout(this.#gathered.timer)
    this.#gathered = null
  }

  #readBody(reader: BodyReader, bytes: Buffer): void {
    if (this.stream === null) throw new Http1Error('more than its answer')
    const pieces: Uint8Array[] = []
    const end = reader.read(bytes, 0, (content) => pieces.push(content))
    this.stream.pushAll(pieces)
    if (!reader.isDone) return
    this.stream.finish()
    this.#owner.onDone(end === bytes.length)
  }
}

const isInterim = ({ status }: ResponseHead) => status < 200 && status !== 101

const NO_BODY = { kind: 'none' } as const

/** Infinity if the length is not known in advance. */
function lengthOf(framing: Framing): number {
  if (framing.kind === 'none') return 0
  return framing.kind === 'length' ? framing.length : Number.POSITIVE_INFINITY
}

function joined(pieces: readonly Uint8Array[]): Uint8Array | null {
  const [first] = pieces
  return pieces.length > 1 ? Buffer.concat(pieces) : (first ?? null)
}
