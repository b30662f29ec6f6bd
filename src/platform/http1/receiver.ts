import { BodyReader } from './body-reader.ts'
import { BodyStream, type StreamOwner } from './body-stream.ts'
import { HeadCollector } from './head-collector.ts'
import type { KnownHeads, ReadHead } from './known-heads.ts'
import { type Framing, Http1Error, hasNoBody, type ResponseHead } from './response-head.ts'

export type ReceivedBody = ReadableStream<Uint8Array> | Uint8Array | null

export interface ReceiverOwner extends StreamOwner {
  /** The final answer has begun; its body is whole where it came at once. */
  answered(read: ReadHead, body: ReceivedBody): void
  /** 101, and what came right behind it, which is no HTTP any more. */
  switched(read: ReadHead, rest: Buffer): void
  /** The answer is whole; `isClean` when nothing came behind it. */
  done(isClean: boolean): void
}

const MOST_INTERIM_ANSWERS = 16
/** A body of a few packets is waited for: handing on each by itself costs more than all of them together. */
const GATHER_MS = 2
const MOST_GATHERED_BYTES = 128 * 1024

/** The answer whose body is waited for. */
type Gathered = { read: ReadHead; pieces: Uint8Array[]; timer: Timer | null }

/** Reads the answers of a connection, one after the other. Every method throws `Http1Error` for an answer that is none. */
export class ResponseReceiver {
  /** Of the final answer, once it is there. */
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

  /** The next that comes answers a request of this method. The answer before must be whole. */
  expect(method: string): void {
    this.head = null
    this.stream = null
    this.#method = method
    this.#reader = null
    this.#interimAnswers = 0
  }

  /** Not one byte has come. */
  get hasHeardNothing(): boolean {
    return this.head === null && this.#interimAnswers === 0 && this.#collector.isEmpty
  }

  receive(bytes: Buffer): void {
    if (this.head === null) this.#readHead(bytes)
    else if (this.#reader === null) throw new Http1Error('more than its answer')
    else if (this.#gathered !== null) this.#gather(this.#gathered, this.#reader, bytes, 0)
    else this.#readBody(this.#reader, bytes)
  }

  /** The other end sends no more. True when that ended the answer, false when it cut it. */
  end(): boolean {
    if (this.stream === null || this.head?.framing.kind !== 'close') return false
    this.stream.finish()
    this.#owner.done(false)
    return true
  }

  /** The connection is gone: nobody is handed anything any more. */
  fail(error: unknown): void {
    this.#endGathering()
    this.stream?.fail(error)
  }

  /** Interim answers (100, 102, 103) are skipped. RFC 9110 §15.2. */
  #readHead(bytes: Buffer): void {
    let start = 0
    while (start < bytes.length) {
      const text = this.#collector.add(bytes, start)
      if (text === null) return
      start = this.#collector.end
      const read = this.#known.read(text)
      if (!isInterim(read.head)) {
        if (read.head.status === 101) this.#owner.switched(read, bytes.subarray(start))
        else this.#answer(read, bytes, start)
        return
      }
      this.#countInterim()
    }
  }

  #countInterim(): void {
    this.#interimAnswers += 1
    if (this.#interimAnswers > MOST_INTERIM_ANSWERS) throw new Http1Error('too many 1xx answers')
  }

  #answer(read: ReadHead, bytes: Buffer, start: number): void {
    const { head } = read
    this.head = head
    const framing = hasNoBody(this.#method, head.status) ? NO_BODY : head.framing
    const length = lengthOf(framing)
    const end = start + length
    if (end <= bytes.length) {
      this.#owner.answered(read, length === 0 ? null : bytes.subarray(start, end))
      this.#owner.done(end === bytes.length)
      return
    }
    const gathered: Gathered = { read, pieces: [], timer: null }
    this.#gathered = gathered
    this.#reader = new BodyReader(framing)
    this.#gather(gathered, this.#reader, bytes, start)
    if (this.#gathered !== gathered) return
    if (length > MOST_GATHERED_BYTES) this.#answerInPieces(gathered)
    else gathered.timer = setTimeout(() => this.#answerInPieces(gathered), GATHER_MS)
  }

  #gather(gathered: Gathered, reader: BodyReader, bytes: Buffer, start: number): void {
    const end = reader.read(bytes, start, (content) => gathered.pieces.push(content))
    if (!reader.isDone) return
    this.#endGathering()
    this.#owner.answered(gathered.read, joined(gathered.pieces))
    this.#owner.done(end === bytes.length)
  }

  /** What is here is handed on, and the rest as it comes. */
  #answerInPieces({ read, pieces }: Gathered): void {
    this.#endGathering()
    this.stream = new BodyStream(this.#owner)
    this.#owner.answered(read, this.stream.readable)
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
    this.#owner.done(end === bytes.length)
  }
}

const isInterim = ({ status }: ResponseHead) => status < 200 && status !== 101

const NO_BODY = { kind: 'none' } as const

/** Infinity where the length is not known beforehand. */
function lengthOf(framing: Framing): number {
  if (framing.kind === 'none') return 0
  return framing.kind === 'length' ? framing.length : Number.POSITIVE_INFINITY
}

function joined(pieces: readonly Uint8Array[]): Uint8Array | null {
  const [first] = pieces
  return pieces.length > 1 ? Buffer.concat(pieces) : (first ?? null)
}
