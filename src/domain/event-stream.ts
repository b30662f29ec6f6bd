/**
 * Whether response headers (names in lower case) announce server-sent events. Such a response stays open and may be
 * silent for long.
 */
export const isEventStream = (headers: Iterable<readonly [name: string, value: string]>): boolean => {
  for (const [name, value] of headers)
    if (name === 'content-type' && /^text\/event-stream\b/i.test(value)) return true
  return false
}
