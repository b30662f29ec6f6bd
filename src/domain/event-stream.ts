/** Server-sent events, by the head of an answer: names in lower case. Such an answer lasts, and is silent for long. */
export const isEventStream = (headers: Iterable<readonly [name: string, value: string]>): boolean => {
  for (const [name, value] of headers)
    if (name === 'content-type' && /^text\/event-stream\b/i.test(value)) return true
  return false
}
