/** Crawlers whose names do not say that they are bots. */
const CRAWLERS =
  /\b(facebookexternalhit|WhatsApp|Slurp|Bytespider|OAI-Search|ChatGPT-User|Claude-User|Perplexity-User|Lighthouse|HeadlessChrome|PhantomJS|Pingdom|StatusCake|Amazon-\w+)/i

/** Names that say so themselves: `FooBot/1.0`, `some-crawler`. */
const GENERAL = /([\w.-]*(?:bot|crawl|spider|scrape|monitor|preview|fetcher|checker|archiver)[\w-]*)/i

/** Programs and libraries, including ours, that fetch pages without a person looking at them. */
const PROGRAMS =
  /^(svc(?:-[\w-]+)?|curl|wget|python|aiohttp|httpx|go-http-client|java|okhttp|apache-httpclient|ruby|faraday|perl|libwww|php|guzzle|node|undici|axios|got|bun|deno|dart|rust|reqwest|httpie|postman\w*|insomnia|powershell|feed\w*|rss)\b/i

/** Phones with `bot` in their name. */
const NOT_BOTS = /\bcubot\b/i

const PERSON = null
const MAX_KNOWN = 1000
const known = new Map<string, string | null>()

/** Returns the name of the bot or program that sent this `User-Agent`; null if it looks like a person's browser. */
export function botName(userAgent: string): string | null {
  const before = known.get(userAgent)
  if (before !== undefined) return before
  const name = findName(userAgent)
  if (known.size >= MAX_KNOWN) known.clear()
  known.set(userAgent, name)
  return name
}

function findName(userAgent: string): string | null {
  if (userAgent.trim() === '') return 'unnamed'
  if (NOT_BOTS.test(userAgent)) return PERSON
  const found = PROGRAMS.exec(userAgent) ?? CRAWLERS.exec(userAgent) ?? GENERAL.exec(userAgent)
  return found?.[1]?.toLowerCase().slice(0, 40) ?? PERSON
}
