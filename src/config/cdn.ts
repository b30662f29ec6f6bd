import { oneOf, type Parsed, type PlainOption, text, wholeNumber } from './values.ts'

export type CdnKind = 'varnish' | 'fastly' | 'cloudflare' | 'webhook'

/** The cache in front of the sites. contract 18 §8. */
export type CdnConfig = {
  cdnKind: CdnKind | null
  /** Where purges go; empty for the kind's own API. */
  cdnUrl: readonly string[]
  cdnToken: string | null
  /** The service or zone. */
  cdnId: string | null
  /** Seconds that the cache may keep an answer. */
  cdnMaxAge: number
}

/** So many addresses get purges side by side. */
export const MAX_CDN_URLS = 32

export const CDN_OPTIONS: { [K in keyof CdnConfig]: PlainOption<CdnConfig[K]> } = {
  cdnKind: {
    env: 'CDN_KIND',
    help: 'the cache in front of the sites: varnish, fastly, cloudflare or webhook',
    shownDefault: 'none',
    fallback: () => null,
    parse: oneOf('varnish', 'fastly', 'cloudflare', 'webhook'),
  },
  cdnUrl: {
    env: 'CDN_URL',
    help: 'where purges go: by comma for varnish and webhook, else another base of the API',
    shownDefault: "the CDN's API",
    // An address may hold a token.
    secret: true,
    fallback: () => [],
    parse: addresses,
  },
  cdnToken: {
    env: 'CDN_TOKEN',
    help: 'the API token of fastly or cloudflare, or the secret that signs for webhook',
    shownDefault: 'none',
    secret: true,
    fallback: () => null,
    parse: headerToken,
  },
  cdnId: {
    env: 'CDN_ID',
    help: 'the service (fastly) or zone (cloudflare)',
    shownDefault: 'none',
    fallback: () => null,
    parse: pathSegment,
  },
  cdnMaxAge: {
    env: 'CDN_MAX_AGE',
    help: 'seconds that the CDN may keep an answer that it is not told to forget',
    shownDefault: '86400',
    fallback: () => 86_400,
    parse: wholeNumber(0, 31_536_000),
  },
}

/** Describes a conflict between settings in a sentence that starts with the variable; null if there is none. */
export function cdnConflict({ cdnKind: kind, cdnUrl, cdnToken, cdnId }: CdnConfig): string | null {
  if (kind === null) {
    const [given] = Object.entries({ CDN_URL: cdnUrl[0], CDN_TOKEN: cdnToken, CDN_ID: cdnId }).find(
      ([, value]) => value != null,
    ) ?? [null]
    return given === null ? null : `CDN_KIND is missing: ${given} is set, so say what is purged there`
  }
  const hasApi = kind === 'fastly' || kind === 'cloudflare'
  if (!hasApi && cdnUrl.length === 0)
    return `CDN_URL is missing: CDN_KIND=${kind} needs one or more addresses`
  if (hasApi && cdnUrl.length > 1)
    return `CDN_URL must be one address with CDN_KIND=${kind}: the base of its API`
  if (hasApi && cdnId === null) return `CDN_ID is missing: CDN_KIND=${kind} needs its service or zone`
  if (kind !== 'varnish' && cdnToken === null) return `CDN_TOKEN is missing: CDN_KIND=${kind} needs it`
  return null
}

function addresses(given: string): Parsed<string[]> {
  const urls = [...new Set(given.split(',').map((one) => one.trim()))].filter((one) => one !== '')
  const areGood = urls.length > 0 && urls.length <= MAX_CDN_URLS && urls.every(isAddress)
  return areGood
    ? { value: urls }
    : {
        expected: `1 to ${MAX_CDN_URLS} addresses by comma, with http:// or https://, without user name or #`,
      }
}

const isAddress = (given: string): boolean => {
  const url = URL.canParse(given) ? new URL(given) : null
  return (
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    url.username === '' &&
    url.password === '' &&
    url.hash === ''
  )
}

function headerToken(given: string): Parsed<string> {
  return /^[\x21-\x7e]+$/.test(given) ? { value: given } : { expected: 'a token without spaces' }
}

function pathSegment(given: string): Parsed<string> {
  const isSegment = /^[\w-]+$/.test(given)
  return isSegment ? text(given) : { expected: 'an id of letters, digits, - and _' }
}
