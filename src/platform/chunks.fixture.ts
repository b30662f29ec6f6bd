import { seededRandom } from '../testing/seeded-random.ts'

/** Yields bytes in pieces of the given size, each in an array of its own, as a network would. */
export async function* chunked(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield new Uint8Array(bytes.subarray(at, at + size))
}

/** The same in pieces of random size up to `maxSize`; the same seed gives the same pieces. */
export async function* chunkedAtRandom(
  bytes: Uint8Array,
  maxSize: number,
  seed: number,
): AsyncGenerator<Uint8Array> {
  const random = seededRandom(seed)
  for (let at = 0; at < bytes.length; ) {
    const size = 1 + Math.floor(random() * maxSize)
    yield new Uint8Array(bytes.subarray(at, at + size))
    at += size
  }
}

export function randomBytes(length: number, seed: number): Uint8Array {
  const random = seededRandom(seed)
  const words = new Uint32Array(Math.ceil(length / 4))
  for (let at = 0; at < words.length; at += 1) words[at] = random() * 2 ** 32
  return new Uint8Array(words.buffer, 0, length)
}

export async function collect(body: AsyncIterable<Uint8Array> | Uint8Array): Promise<Uint8Array> {
  return body instanceof Uint8Array ? body : Buffer.concat(await Array.fromAsync(body))
}

/** The error that a promise rejects with; throws if it does not reject with an error. */
export async function failureOf(work: Promise<unknown>): Promise<Error> {
  try {
    await work
  } catch (error) {
    if (error instanceof Error) return error
  }
  throw new Error('It did not fail')
}
