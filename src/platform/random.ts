/** Bytes nobody can guess, without node:crypto: loading that takes a third of the time in which the server starts. */
export const randomBytes = (count: number): Buffer<ArrayBuffer> =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(count)).buffer)
