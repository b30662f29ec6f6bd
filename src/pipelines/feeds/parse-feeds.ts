import { MINUTE_MS } from '../../domain/durations.ts'
import { FeedReader } from '../../domain/feeds/feed-reader.ts'
import { XmlError } from '../../domain/feeds/xml-reader.ts'
import { parseWebUrl } from '../../domain/web-url.ts'
import { OutboundError } from '../../platform/outbound/error.ts'
import { getFollowing } from '../../platform/outbound/follow.ts'
import { leave } from '../../platform/outbound/read.ts'
import type { Outbound, OutboundResponse } from '../../platform/outbound.ts'
import { JsonText } from '../language/json-text.ts'
import { FoundEntries, Room } from './found-entries.ts'
import { readBody, readText } from './read-body.ts'

/** For all feeds of a step together. */
const STEP_LIMIT_MS = 5 * MINUTE_MS
const INLINE = 'inline-xml'

type How = { concurrency: number; timeoutMs: number }

/** `entries`: JSON. */
type Parsed = { source: string; entries: string[] } | { source: string; error: string }

/** Reads the feeds at addresses, some at once. One that cannot be read has an error and no entries. contract 14.5. */
export async function parseFeeds(outbound: Outbound, urls: readonly string[], how: How): Promise<JsonText> {
  const room = new Room()
  const until = performance.now() + STEP_LIMIT_MS
  const parsed: Parsed[] = []
  const waiting = [...urls.entries()]
  const readOn = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [place, url] = next
      const timeoutMs = Math.min(how.timeoutMs, until - performance.now())
      parsed[place] = await parseAt(outbound, url, timeoutMs, room)
    }
  }
  await Promise.all(Array.from({ length: how.concurrency }, readOn))
  return outputOf(parsed)
}

/** Reads the text of a feed. */
export async function parseText(xml: string): Promise<JsonText> {
  const found = new FoundEntries(new Room())
  const reader = new FeedReader(null, (entry) => found.add(entry))
  const parsed = await parsedOr(INLINE, found, async () => {
    await readText(reader, xml)
    return found.from(reader.title)
  })
  return outputOf([parsed])
}

async function parseAt(outbound: Outbound, source: string, timeoutMs: number, room: Room): Promise<Parsed> {
  const url = parseWebUrl(source)
  if (url?.protocol !== 'https:') return { source, error: 'The source must be an https address' }
  if (timeoutMs <= 0) return { source, error: 'There was no time left for this source' }
  const limit = AbortSignal.timeout(timeoutMs)
  const found = new FoundEntries(room)
  const reader = new FeedReader(url.href, (entry) => found.add(entry))
  return parsedOr(source, found, async () => {
    const response = await getFollowing(outbound, url, {
      headers: HEADERS,
      headTimeoutMs: timeoutMs,
      idleTimeoutMs: timeoutMs,
      signal: limit,
    })
    await refuseBad(response)
    await readBody(reader, response)
    return found.from(source)
  }).then((parsed) => (limit.aborted && 'error' in parsed ? { source, error: LATE } : parsed))
}

const LATE = 'The source did not answer in time'

const HEADERS = [
  ['accept', 'application/rss+xml, application/atom+xml, application/xml;q=0.9, text/xml;q=0.9, */*;q=0.1'],
  ['user-agent', 'svc'],
] as const

/** An answer that is no feed, whatever it holds. */
class BadAnswer extends Error {}

async function refuseBad({ status, headers, body }: OutboundResponse): Promise<void> {
  const coding =
    headers
      .find(([name]) => name === 'content-encoding')?.[1]
      .trim()
      .toLowerCase() ?? 'identity'
  const isGood = status >= 200 && status < 300
  if (isGood && coding === 'identity') return
  await leave({ body })
  throw new BadAnswer(
    isGood ? 'The source sent a compressed answer, which was not asked for' : `The source answered ${status}`,
  )
}

/** What `read` finds, or what is wrong with the source. */
async function parsedOr(source: string, found: FoundEntries, read: () => Promise<string[]>): Promise<Parsed> {
  try {
    return { source, entries: await read() }
  } catch (error) {
    found.discard()
    return { source, error: inWords(error) }
  }
}

/** What a visitor may know: nothing of the network around the server. Rethrows what is no fault of the source. */
function inWords(error: unknown): string {
  if (error instanceof XmlError) return `The feed ${error.message}`
  if (error instanceof BadAnswer) return error.message
  if (!(error instanceof OutboundError)) throw error
  switch (error.kind) {
    case 'timeout':
    case 'stalled':
      return LATE
    case 'broken':
    case 'reset':
      return 'The source sent an answer that cannot be read'
    case 'overloaded':
      return 'Too many requests to the source are in progress'
    default:
      return 'The source could not be reached'
  }
}

function outputOf(parsed: readonly Parsed[]): JsonText {
  const entries = parsed.flatMap((one) => ('entries' in one ? one.entries : []))
  const sources = parsed.map((one) =>
    'entries' in one
      ? { source: one.source, ok: true, count: one.entries.length }
      : { source: one.source, ok: false, count: 0, error: one.error },
  )
  const errorCount = sources.filter(({ ok }) => !ok).length
  const counts = { totalEntries: entries.length, okCount: sources.length - errorCount, errorCount }
  const rest = JSON.stringify({ sources, ...counts }).slice(1)
  return new JsonText(`{"entries":[${entries.join(',')}],${rest}`)
}
