/** A stream of events that is none, or whose events are too large. */
export class UnreadableEvents extends Error {}

const MAX_EVENT = 2 ** 20

/** The data of each event of a `text/event-stream`, as it comes. Also of a last one that no empty line ends. */
export async function* eventData(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  let data: string[] = []
  let size = 0
  const take = (line: string): string | undefined => {
    if (line !== '') {
      const [, value] = /^data:? ?(.*)$/s.exec(line) ?? []
      if (value !== undefined) data.push(value)
      size += line.length
      if (size > MAX_EVENT) throw new UnreadableEvents('an event is too large')
      return undefined
    }
    const whole = data.length === 0 ? undefined : data.join('\n')
    data = []
    size = 0
    return whole
  }
  for await (const piece of body) {
    rest += decoder.decode(piece, { stream: true })
    const lines = rest.split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > MAX_EVENT) throw new UnreadableEvents('a line is too long')
    for (const line of lines) {
      const whole = take(line.replace(/\r$/, ''))
      if (whole !== undefined) yield whole
    }
  }
  take(rest)
  const last = take('')
  if (last !== undefined) yield last
}
