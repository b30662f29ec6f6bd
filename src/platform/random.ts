/** Unpredictable bytes without node:crypto, whose loading takes a third of the start time of the server. */
export const randomBytes = (count: number): Buffer<ArrayBuffer> =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(count)).buffer)

/**
 * A number from 0 to 1, derived from an id of `Context.newId`: the last 32 bits of a UUID (v7) are random. RFC 9562
 * §5.7.
 */
export const fractionOf = (id: string): number => Number.parseInt(id.slice(-8), 16) / 2 ** 32
