/** Bytes nobody can guess, without node:crypto: loading that takes a third of the time in which the server starts. */
export const randomBytes = (count: number): Buffer<ArrayBuffer> =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(count)).buffer)

/** A number from 0 to 1, by an id of `Context.newId`: the last 32 bits of a UUID (v7) are random. RFC 9562 §5.7. */
export const fractionOf = (id: string): number => Number.parseInt(id.slice(-8), 16) / 2 ** 32
