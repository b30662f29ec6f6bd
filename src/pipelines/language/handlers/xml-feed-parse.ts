import { Type } from 'typebox'
import type { ErrorDetail } from '../../../domain/errors.ts'
import type { Handler } from '../handler.ts'
import { expression, numberUpTo } from './config.ts'
import { checkWholeNumber, constantOf } from './words.ts'

export const MAX_URLS = 500
export const DEFAULT_CONCURRENCY = 8
export const MAX_CONCURRENCY = 32
export const DEFAULT_FEED_TIMEOUT_MS = 30_000
export const MIN_FEED_TIMEOUT_MS = 1000
export const MAX_FEED_TIMEOUT_MS = 120_000

type Config = Readonly<Record<string, unknown>>

export const xmlFeedParseHandler: Handler<'xml_feed_parse'> = {
  names: ['xml_feed_parse'],
  summary:
    'Reads feeds (RSS 2.0, Atom, RDF) from https addresses, of which up to 5 redirects are followed, or from a text. A feed that cannot be read has `ok: false` and fails nothing. Up to 10 MiB and 5 000 entries of each, 16 MiB of entries in all.',
  result:
    '`{ entries, sources, totalEntries, okCount, errorCount }`; an entry is `{ source, guid, title, link, author, publishedAt, content, summary, enclosures: [{ url, type, length }], extensions }` without what the feed does not say, a source `{ source, ok, count, error }`.',
  config: Type.Object(
    {
      urls: Type.Optional(
        Type.Union([Type.String(), Type.Array(Type.String())], {
          description: `an https address or a list of at most ${MAX_URLS}, as an expression`,
        }),
      ),
      xml: Type.Optional(expression('the text of a feed, in place of `urls`')),
      concurrency: Type.Optional(
        numberUpTo(MAX_CONCURRENCY, `how many are read at once: default ${DEFAULT_CONCURRENCY}`),
      ),
      timeoutMs: Type.Optional(
        numberUpTo(
          MAX_FEED_TIMEOUT_MS,
          `milliseconds for each: default ${DEFAULT_FEED_TIMEOUT_MS}, at least ${MIN_FEED_TIMEOUT_MS}`,
        ),
      ),
    },
    { additionalProperties: false },
  ),
  check: ({ urls, xml }) =>
    (urls === undefined) === (xml === undefined)
      ? [{ path: '', message: 'needs urls or xml, and not both' }]
      : [],
  foresee: (config) => [
    ...checkUrls(config),
    ...checkWholeNumber(config, 'concurrency', 1, MAX_CONCURRENCY),
    ...checkWholeNumber(config, 'timeoutMs', MIN_FEED_TIMEOUT_MS, MAX_FEED_TIMEOUT_MS),
  ],
}

function checkUrls({ urls }: Config): ErrorDetail[] {
  const isList = Array.isArray(urls)
  const all: unknown[] = [urls ?? []].flat()
  if (all.length > MAX_URLS) return [{ path: 'urls', message: `must be at most ${MAX_URLS} addresses` }]
  return all.flatMap((one, i) => {
    const url = constantOf(one)
    if (url === undefined || url === null || isHttps(url)) return []
    const path = isList ? `urls[${i}]` : 'urls'
    return [{ path, message: 'must be an https address, such as https://example.com/feed.xml' }]
  })
}

const isHttps = (url: unknown): boolean => typeof url === 'string' && URL.parse(url)?.protocol === 'https:'
