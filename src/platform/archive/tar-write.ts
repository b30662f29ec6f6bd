import type { ByteStream } from '../byte-stream.ts'
import { BLOCK_BYTES } from './tar-header.ts'

/**
 * A file to pack. The body must be exactly `sizeBytes` long. A function as the body writes all of it into the memory of
 * the archive; use it for files of up to `MAX_FILLED_BYTES`.
 */
export type TarSource = {
  name: string
  sizeBytes: number
  body: ByteStream | Uint8Array | ((into: Uint8Array) => void)
  special?: TarSpecial
}

/**
 * What is unlike a file of 1970 that its owner may write and all may read. A folder and a link have an empty body; the time is in
 * seconds of Unix.
 */
export type TarSpecial = { mode?: number; isFolder?: boolean; linkTo?: string; modifiedAt?: number }

export const MAX_FILLED_BYTES = 128 * 1024

const BATCH_BYTES = 256 * 1024
const MAX_OCTAL_SIZE = 8 ** 11 - 1

const NAME_BYTES = 100
const SIZE_AT = 124
const SIZE_DIGITS = 11
const SUM_AT = 148
const SUM_BYTES = 8
const TYPE_AT = 156
const LINK_AT = 157
const MODE_AT = 100
const MODE_DIGITS = 7
const TIME_AT = 136
const TIME_DIGITS = 11
const SPACE = 0x20

const utf8 = new TextEncoder()

/**
 * Writes a tar archive of these files while they are read, in pax format if a name or size needs it. Equal files give
 * equal bytes: the archive has no times or owners. Fails if a body does not have the declared length.
 */
export async function* tarEntries(
  sources: AsyncIterable<TarSource> | Iterable<TarSource>,
): AsyncGenerator<Uint8Array> {
  const batch = new Batch()
  if (Symbol.iterator in sources) {
    // Thousands of small files that are already in memory need no separate wait.
    for (const source of sources) {
      if (!packWhole(batch, source)) yield* packStream(batch, source)
      if (batch.isFull) yield* batch.take()
    }
  } else
    for await (const source of sources) {
      if (!packWhole(batch, source)) yield* packStream(batch, source)
      if (batch.isFull) yield* batch.take()
    }
  batch.add(PADDING)
  yield* batch.rest()
}

/** Returns false for a body that is still to come. */
function packWhole(batch: Batch, source: TarSource): boolean {
  const { name, sizeBytes, body } = source
  if (typeof body !== 'function' && !(body instanceof Uint8Array)) return false
  addHeader(batch, source)
  if (typeof body === 'function') body(batch.reserve(sizeBytes))
  else if (body.length === sizeBytes) batch.add(body)
  else throw changed(name)
  batch.add(PADDING.subarray(0, paddingOf(sizeBytes)))
  return true
}

async function* packStream(batch: Batch, source: TarSource): AsyncGenerator<Uint8Array> {
  const { name, sizeBytes, body } = source
  if (typeof body === 'function' || body instanceof Uint8Array) return
  addHeader(batch, source)
  let written = 0
  for await (const piece of body) {
    written += piece.length
    if (written > sizeBytes) break
    batch.add(piece)
    if (batch.isFull) yield* batch.take()
  }
  if (written !== sizeBytes) throw changed(name)
  batch.add(PADDING.subarray(0, paddingOf(sizeBytes)))
}

const changed = (name: string): Error => new Error(`${name} changed while it was being packed; try again`)

/** An archive ends with two empty blocks; they also serve as padding. */
const PADDING = new Uint8Array(2 * BLOCK_BYTES)
const paddingOf = (bytes: number): number => (BLOCK_BYTES - (bytes % BLOCK_BYTES)) % BLOCK_BYTES

/** Combines small pieces, because a chunk for each would cost more than its bytes. */
class Batch {
  #full: Uint8Array[] = []
  #buffer = new Uint8Array(BATCH_BYTES)
  #used = 0

  /** Whether the caller should take what is ready. */
  get isFull(): boolean {
    return this.#full.length > 0
  }

  add(bytes: Uint8Array): void {
    if (this.#used + bytes.length > BATCH_BYTES) this.#close()
    if (bytes.length > BATCH_BYTES) {
      this.#full.push(bytes)
    } else {
      this.#buffer.set(bytes, this.#used)
      this.#used += bytes.length
    }
  }

  /** Reserves this many bytes. The caller must fill them before it adds more. */
  reserve(bytes: number): Uint8Array {
    if (bytes > BATCH_BYTES) throw new Error(`${bytes} bytes are too many for one batch`)
    if (this.#used + bytes > BATCH_BYTES) this.#close()
    this.#used += bytes
    return this.#buffer.subarray(this.#used - bytes, this.#used)
  }

  /** Returns the full chunks in order. */
  take(): Uint8Array[] {
    return this.#full.splice(0)
  }

  rest(): Uint8Array[] {
    this.#close()
    return this.take()
  }

  #close(): void {
    if (this.#used === 0) return
    this.#full.push(this.#buffer.subarray(0, this.#used))
    this.#buffer = new Uint8Array(BATCH_BYTES)
    this.#used = 0
  }
}

function addHeader(batch: Batch, { name, sizeBytes, special }: TarSource): void {
  const fits = name.length <= NAME_BYTES && Buffer.byteLength(name) === name.length
  const isOctal = sizeBytes <= MAX_OCTAL_SIZE
  const records: string[] = []
  if (!fits) records.push(paxRecord('path', name))
  if (!isOctal) records.push(paxRecord('size', String(sizeBytes)))
  if (records.length > 0) {
    const pax = utf8.encode(records.join(''))
    addBlock(batch, 'x', 'PaxHeader', pax.length)
    batch.add(pax)
    batch.add(PADDING.subarray(0, paddingOf(pax.length)))
  }
  // Readers without pax support get as much of the name as fits.
  const block = addBlock(batch, '0', name, isOctal ? sizeBytes : 0)
  if (special !== undefined) setSpecial(block, special)
}

function addBlock(batch: Batch, type: string, name: string, sizeBytes: number): Uint8Array {
  const block = batch.reserve(BLOCK_BYTES)
  block.set(COMMON_HEADER)
  const { written } = utf8.encodeInto(name, block.subarray(0, NAME_BYTES))
  setField(block, sizeBytes.toString(8).padStart(SIZE_DIGITS, '0'), SIZE_AT)
  setField(block, type, TYPE_AT)
  // The common header has these fields empty, so they are added to its sum.
  let sum = COMMON_SUM + (block[TYPE_AT] ?? 0)
  for (let at = 0; at < written; at++) sum += block[at] ?? 0
  for (let at = SIZE_AT; at < SIZE_AT + SIZE_DIGITS; at++) sum += block[at] ?? 0
  setSum(block, sum)
  return block
}

function setSpecial(block: Uint8Array, { mode, isFolder = false, linkTo, modifiedAt }: TarSpecial): void {
  if (modifiedAt !== undefined) setField(block, modifiedAt.toString(8).padStart(TIME_DIGITS, '0'), TIME_AT)
  if (mode !== undefined) setField(block, mode.toString(8).padStart(MODE_DIGITS, '0'), MODE_AT)
  if (isFolder) setField(block, '5', TYPE_AT)
  if (linkTo !== undefined) {
    setField(block, '2', TYPE_AT)
    if (utf8.encodeInto(linkTo, block.subarray(LINK_AT, LINK_AT + NAME_BYTES)).read < linkTo.length)
      throw new Error(`a link to ${linkTo} does not fit into an archive`)
  }
  block.fill(SPACE, SUM_AT, SUM_AT + SUM_BYTES)
  setSum(
    block,
    block.reduce((sum, byte) => sum + byte, 0),
  )
}

function setSum(block: Uint8Array, sum: number): void {
  setField(block, `${sum.toString(8).padStart(6, '0')}\0 `, SUM_AT)
}

function setField(block: Uint8Array, text: string, at: number): void {
  for (let i = 0; i < text.length; i++) block[at + i] = text.charCodeAt(i)
}

/** The bytes that all headers share. The checksum counts its own field as spaces. */
const COMMON_HEADER = commonHeader()
const COMMON_SUM = COMMON_HEADER.reduce((sum, byte) => sum + byte, 0)

function commonHeader(): Uint8Array {
  const block = new Uint8Array(BLOCK_BYTES)
  setField(block, '0000644\0', 100)
  setField(block, '0000000\0', 108)
  setField(block, '0000000\0', 116)
  setField(block, '00000000000\0', TIME_AT)
  setField(block, '        ', SUM_AT)
  setField(block, 'ustar\x0000', 257)
  return block
}

/** `length key=value` and a line feed. The length counts its own digits. */
function paxRecord(key: string, value: string): string {
  const rest = utf8.encode(` ${key}=${value}\n`).length
  let length = rest + String(rest).length
  if (rest + String(length).length !== length) length = rest + String(length).length
  return `${length} ${key}=${value}\n`
}
