import { byteSizeFrom, type PlainOption, wholeNumber } from './values.ts'

/** Settings of the bodies of requests that are held in memory. contract 12.6. */
export type BodyConfig = {
  bufferedBodyBytes: number
  bodyStallSeconds: number
}

const MIB = 1024 * 1024

export const BODY_OPTIONS: { [K in keyof BodyConfig]: PlainOption<BodyConfig[K]> } = {
  bufferedBodyBytes: {
    env: 'BUFFERED_BODY_BYTES',
    help: 'memory for request bodies that are held, all together; uploads and proxied bodies are not',
    shownDefault: '268435456 (256 MiB)',
    fallback: () => 256 * MIB,
    parse: byteSizeFrom(16 * MIB),
  },
  bodyStallSeconds: {
    env: 'BODY_STALL_SECONDS',
    help: 'seconds in which 10 KiB of such a body must arrive, or its rest',
    shownDefault: '20',
    fallback: () => 20,
    parse: wholeNumber(1, 600),
  },
}
