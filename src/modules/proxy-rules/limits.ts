/** Milliseconds. spec: Limits; contract §8. */
export const MIN_TIMEOUT_MS = 100
export const MAX_TIMEOUT_MS = 60_000
export const DEFAULT_TIMEOUT_MS = 30_000
