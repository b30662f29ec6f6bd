import { AppError } from '../../domain/errors.ts'
import {
  DEFAULT_CONCURRENCY,
  DEFAULT_FEED_TIMEOUT_MS,
  MAX_CONCURRENCY,
  MAX_FEED_TIMEOUT_MS,
  MAX_URLS,
  MIN_FEED_TIMEOUT_MS,
} from '../language/handlers/xml-feed-parse.ts'
import { plain } from '../language/json-text.ts'
import type { Runner } from '../runner.ts'
import { optionalText, wholeNumber } from './config.ts'

type Config = Readonly<Record<string, unknown>>

/** The reader is loaded with the first feed. */
export const xmlFeedParseRunner: Runner = {
  boundsOwnTime: true,
  async run({ ctx }, config) {
    const { urls, xml } = config
    if ((urls === undefined) === (xml === undefined))
      throw new AppError('internal', 'The step needs urls or xml')
    const feeds = await import('../feeds/parse-feeds.ts')
    if (urls === undefined) return feeds.parseText(optionalText(config, 'xml') ?? '')
    return feeds.parseFeeds(ctx.outbound, urlsOf(config), {
      concurrency: Math.min(wholeNumber(config, 'concurrency', DEFAULT_CONCURRENCY, 1), MAX_CONCURRENCY),
      timeoutMs: Math.min(
        wholeNumber(config, 'timeoutMs', DEFAULT_FEED_TIMEOUT_MS, MIN_FEED_TIMEOUT_MS),
        MAX_FEED_TIMEOUT_MS,
      ),
    })
  },
}

/** Throws 400 for what is neither a text nor a list of texts, and for too many. */
function urlsOf(config: Config): string[] {
  const given = plain(config['urls'])
  if (given === null || given === undefined) return []
  const urls: unknown[] = [given].flat()
  if (urls.length > MAX_URLS)
    throw new AppError(
      'invalid',
      `urls has ${urls.length} addresses, and at most ${MAX_URLS} can be read at once`,
    )
  return urls.map((url) => {
    if (typeof url !== 'string') throw new AppError('invalid', 'urls must be a text or a list of texts')
    return url
  })
}
