import { ByteCollector } from '../byte-stream.ts'

export const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

/** The other end violated RFC 6455. Close the socket with `code`. */
export class SocketFailure extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** `code` null: closed without a code. */
export type FrameEvent =
  | { kind: 'message'; message: string | Uint8Array }
  | { kind: 'ping'; payload: Uint8Array }
  | { kind: 'close'; code: number | null; reason: string }

/** A complete message or a control frame as a client sends it: masked. RFC 6455 §5.2 and §5.3. */
export function encodeFrame(opcode: number, payload: Uint8Array): Uint8Array {
  const { length } = payload
  const extended = length < 126 ? 0 : length < 65_536 ? 2 : 8
  const frame = Buffer.allocUnsafe(2 + extended + 4 + length)
  frame[0] = 0x80 | opcode
  frame[1] = 0x80 | (extended === 0 ? length : extended === 2 ? 126 : 127)
  if (extended === 2) frame.writeUInt16BE(length, 2)
  if (extended === 8) frame.writeBigUInt64BE(BigInt(length), 2)
  const mask = crypto.getRandomValues(new Uint8Array(4))
  const at = 2 + extended
  frame.set(mask, at)
  for (let i = 0; i < length; i++) frame[at + 4 + i] = (payload[i] ?? 0) ^ (mask[i & 3] ?? 0)
  return frame
}

type Frame = { isLast: boolean; opcode: number; payload: Buffer }

/** Parses the bytes of a server, however they are split. Throws `SocketFailure`. */
export class FrameReader {
  readonly #messageBytes: number
  #pieces: Uint8Array[] = []
  #held = 0
  #wanted = 2
  /**
   * The fragments of an unfinished message; null between messages. Collects bytes, because a fragment may be tiny or
   * empty.
   */
  #begun: { opcode: number; bytes: ByteCollector } | null = null

  constructor(messageBytes: number) {
    this.#messageBytes = messageBytes
  }

  *read(bytes: Uint8Array): Generator<FrameEvent, void, undefined> {
    this.#pieces.push(bytes)
    this.#held += bytes.length
    while (this.#held >= this.#wanted) {
      const frame = this.#nextFrame()
      if (frame === null) continue
      const event = this.#take(frame)
      if (event !== null) yield event
    }
  }

  /** Null if more bytes are needed: `#wanted` says how many. */
  #nextFrame(): Frame | null {
    const held = this.#joined()
    const second = held[1] ?? 0
    if ((second & 0x80) !== 0) throw new SocketFailure(1002, 'The server masked a frame')
    const short = second & 0x7f
    const header = 2 + (short === 126 ? 2 : short === 127 ? 8 : 0)
    if (held.length < header) return this.#want(header)
    const length =
      short === 126 ? held.readUInt16BE(2) : short === 127 ? Number(held.readBigUInt64BE(2)) : short
    if (length + (this.#begun?.bytes.sizeBytes ?? 0) > this.#messageBytes)
      throw new SocketFailure(1009, 'The message is too long')
    if (held.length < header + length) return this.#want(header + length)
    const payload = held.subarray(header, header + length)
    const rest = held.subarray(header + length)
    this.#pieces = rest.length === 0 ? [] : [rest]
    this.#held = rest.length
    this.#wanted = 2
    return frameOf(held[0] ?? 0, payload)
  }

  #want(bytes: number): null {
    this.#wanted = bytes
    return null
  }

  #joined(): Buffer {
    const [only] = this.#pieces
    const joined =
      this.#pieces.length === 1 && only !== undefined
        ? Buffer.from(only.buffer, only.byteOffset, only.byteLength)
        : Buffer.concat(this.#pieces)
    this.#pieces = [joined]
    return joined
  }

  #take({ isLast, opcode, payload }: Frame): FrameEvent | null {
    if (opcode === OPCODE.close) return closeOf(payload)
    if (opcode === OPCODE.ping) return { kind: 'ping', payload: new Uint8Array(payload) }
    if (opcode === OPCODE.pong) return null
    if ((opcode === OPCODE.continuation) !== (this.#begun !== null))
      throw new SocketFailure(1002, 'A message began within another, or continued without a beginning')
    if (this.#begun === null && isLast) return messageOf(opcode, payload)
    const begun = this.#begun ?? { opcode, bytes: new ByteCollector() }
    begun.bytes.push(payload)
    this.#begun = isLast ? null : begun
    return isLast ? messageOf(begun.opcode, begun.bytes.bytes()) : null
  }
}

const messageOf = (opcode: number, bytes: Uint8Array): FrameEvent => ({
  kind: 'message',
  message: opcode === OPCODE.text ? decode(bytes) : new Uint8Array(bytes),
})

function frameOf(first: number, payload: Buffer): Frame {
  const opcode = first & 0x0f
  const isLast = (first & 0x80) !== 0
  const isKnown = opcode <= OPCODE.binary || (opcode >= OPCODE.close && opcode <= OPCODE.pong)
  const isControl = opcode >= OPCODE.close
  if ((first & 0x70) !== 0 || !isKnown || (isControl && (!isLast || payload.length > 125)))
    throw new SocketFailure(1002, 'The server sent an invalid or unnegotiated frame')
  return { isLast, opcode, payload }
}

function closeOf(payload: Buffer): FrameEvent {
  if (payload.length === 0) return { kind: 'close', code: null, reason: '' }
  if (payload.length === 1) throw new SocketFailure(1002, 'A close frame has a code of only one byte')
  return { kind: 'close', code: payload.readUInt16BE(0), reason: decode(payload.subarray(2)) }
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new SocketFailure(1007, 'A text message is not UTF-8')
  }
}
