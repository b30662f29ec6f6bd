import {
  HEAD_BYTES,
  TAIL_BYTES,
  type Traits,
  traitsOf,
  traitsOfEnds,
  WHOLE_BYTES,
} from '../../domain/content-traits.ts'
import { ByteCollector } from '../byte-stream.ts'

/** Copies of a content, as its bytes pass by, those that say its traits: at most 4 MiB. */
export class ContentSample {
  #start: ByteCollector | Uint8Array = new ByteCollector()
  /** Of a content of more than 4 MiB: its last bytes so far. */
  #tail: Uint8Array | undefined

  push(bytes: Uint8Array): void {
    if (this.#start instanceof Uint8Array) this.#tail = lastOf(this.#tail, bytes)
    else this.#pushStart(this.#start, bytes)
  }

  traits(): Traits {
    const start = this.#start instanceof Uint8Array ? this.#start : this.#start.bytes()
    return this.#tail === undefined ? traitsOf(start) : traitsOfEnds(start, this.#tail)
  }

  #pushStart(start: ByteCollector, bytes: Uint8Array): void {
    const room = WHOLE_BYTES - start.sizeBytes
    start.push(bytes.subarray(0, room))
    if (bytes.length <= room) return
    this.#tail = lastOf(start.bytes(), bytes.subarray(room))
    this.#start = new Uint8Array(start.bytes().subarray(0, HEAD_BYTES))
    start.clear()
  }
}

/** A copy of the last 64 KiB, in the memory of the one before: each piece would leave as much garbage. */
function lastOf(before: Uint8Array | undefined, bytes: Uint8Array): Uint8Array {
  if (before?.length === TAIL_BYTES) {
    const last = bytes.subarray(-TAIL_BYTES)
    before.copyWithin(0, last.length)
    before.set(last, TAIL_BYTES - last.length)
    return before
  }
  if (before === undefined || bytes.length >= TAIL_BYTES) return new Uint8Array(bytes.subarray(-TAIL_BYTES))
  return Buffer.concat([before.subarray(Math.max(0, before.length + bytes.length - TAIL_BYTES)), bytes])
}
