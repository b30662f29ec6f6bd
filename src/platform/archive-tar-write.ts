import type { ByteStream } from './byte-stream.ts'

/** A file to pack. The body must be exactly `sizeBytes` long. */
export type TarSource = { name: string; sizeBytes: number; body: ByteStream | Uint8Array }

const BLOCK_BYTES = 512
const BATCH_BYTES = 256 * 1024
const MAX_OCTAL_SIZE = 8 ** 11 - 1

const utf8 = new TextEncoder()

/**
 * A tar archive of these files while they are read, in pax format where a name or size asks for it. The same files give
 * the same bytes: there are no times or owners in it. Fails when a body is not as long as was said.
 */
export async function* tarEntries(
  sources: AsyncIterable<TarSource> | Iterable<TarSource>,
): AsyncGenerator<Uint8Array> {
  const batch = new Batch()
  for await (const { name, sizeBytes, body } of sources) {
    for (const block of headerBlocks(name, sizeBytes)) yield* batch.add(block)
    let written = 0
    for await (const piece of body instanceof Uint8Array ? [body] : body) {
      written += piece.length
      if (written > sizeBytes) break
      yield* batch.add(piece)
    }
    if (written !== sizeBytes) throw new Error(`${name} changed while it was packed; try again`)
    yield* batch.add(new Uint8Array((BLOCK_BYTES - (sizeBytes % BLOCK_BYTES)) % BLOCK_BYTES))
  }
  yield* batch.add(new Uint8Array(2 * BLOCK_BYTES))
  yield* batch.rest()
}

/** Small pieces go out together: one chunk each would cost more than their bytes. */
class Batch {
  #buffer = new Uint8Array(BATCH_BYTES)
  #used = 0;

  *add(bytes: Uint8Array): Generator<Uint8Array> {
    if (this.#used + bytes.length > BATCH_BYTES) yield* this.rest()
    if (bytes.length > BATCH_BYTES) {
      yield bytes
    } else {
      this.#buffer.set(bytes, this.#used)
      this.#used += bytes.length
    }
  }

  *rest(): Generator<Uint8Array> {
    if (this.#used === 0) return
    const full = this.#buffer.subarray(0, this.#used)
    this.#buffer = new Uint8Array(BATCH_BYTES)
    this.#used = 0
    yield full
  }
}

function* headerBlocks(name: string, sizeBytes: number): Generator<Uint8Array> {
  const bytes = utf8.encode(name)
  const records: string[] = []
  if (bytes.length > 100 || bytes.length !== name.length) records.push(paxRecord('path', name))
  if (sizeBytes > MAX_OCTAL_SIZE) records.push(paxRecord('size', String(sizeBytes)))
  if (records.length > 0) {
    const pax = utf8.encode(records.join(''))
    yield header('PaxHeader', pax.length, 'x')
    yield pax
    yield new Uint8Array((BLOCK_BYTES - (pax.length % BLOCK_BYTES)) % BLOCK_BYTES)
  }
  // Readers that know no pax get what of the name fits.
  yield header(bytes.subarray(0, 100), sizeBytes > MAX_OCTAL_SIZE ? 0 : sizeBytes, '0')
}

function header(name: string | Uint8Array, sizeBytes: number, type: string): Uint8Array {
  const block = new Uint8Array(BLOCK_BYTES)
  block.set(typeof name === 'string' ? utf8.encode(name) : name, 0)
  const field = (text: string, at: number) => block.set(utf8.encode(text), at)
  field('0000644\0', 100)
  field('0000000\0', 108)
  field('0000000\0', 116)
  field(`${sizeBytes.toString(8).padStart(11, '0')}\0`, 124)
  field('00000000000\0', 136)
  field('        ', 148)
  field(type, 156)
  field('ustar\x0000', 257)
  const sum = block.reduce((total, byte) => total + byte, 0)
  field(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return block
}

/** `length key=value` and a line feed, where the length counts its own digits. */
function paxRecord(key: string, value: string): string {
  const rest = utf8.encode(` ${key}=${value}\n`).length
  let length = rest + String(rest).length
  if (rest + String(length).length !== length) length = rest + String(length).length
  return `${length} ${key}=${value}\n`
}
