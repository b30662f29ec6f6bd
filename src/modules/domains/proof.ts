import type { Context } from '../../context.ts'
import { messageOf } from '../../domain/errors.ts'
import { leave, readLimited } from '../../platform/outbound/read.ts'
import { hasTxt } from '../../platform/txt-records.ts'
import type { DomainRow } from './queries.ts'

/** How the host was proven, or a sentence that says what was looked for and not found. */
export type Proof = { by: 'txt' | 'http' } | { by: null; reason: string }

/** Timeout for the head, and between two chunks. */
const TIMEOUT_MS = 5_000
/** Timeout for the whole response. */
const WHOLE_MS = 10_000
const MAX_BYTES = 1_024

export const txtNameOf = (hostname: string): string => `_svc-challenge.${hostname}`

export const challengeUrlOf = ({ hostname, challenge }: Pick<DomainRow, 'hostname' | 'challenge'>): string =>
  `http://${hostname}/.well-known/svc-challenge/${challenge}`

/**
 * Looks for the TXT record, then asks the host itself, except for the base domain, or if `whyOnlyTxt` is a sentence that
 * says why not. contract §10.
 */
export async function findProof(
  ctx: Context,
  domain: DomainRow,
  whyOnlyTxt: string | null = null,
): Promise<Proof> {
  const txt = await askDns(ctx, domain)
  if (txt === true) return { by: 'txt' }
  if (whyOnlyTxt !== null) return { by: null, reason: `${txt}. ${whyOnlyTxt}` }
  // The base domain always leads to this server, so its response would prove nothing: every project could claim it.
  if (domain.hostname === ctx.config.baseDomain) return { by: null, reason: `${txt}.` }
  const http = await askHost(ctx, domain)
  return http === true ? { by: 'http' } : { by: null, reason: `${txt}. ${http}.` }
}

async function askDns(ctx: Context, { hostname, challenge }: DomainRow): Promise<true | string> {
  const name = txtNameOf(hostname)
  try {
    const records = await ctx.resolveTxt(name)
    if (hasTxt(records, challenge)) return true
    return records.length === 0 ? `${name} has no TXT record` : `${name} has other TXT records`
  } catch {
    return `The DNS did not answer for ${name}`
  }
}

async function askHost(ctx: Context, domain: DomainRow): Promise<true | string> {
  const url = challengeUrlOf(domain)
  try {
    const { status, text } = await askLedToHttps(ctx, url)
    return (status === 200 && text === domain.challenge) || `${url} answered ${status}, without the value`
  } catch (error) {
    return `${url} could not be read: ${messageOf(error)}`
  }
}

/** Most proxies redirect plain requests to the same address with TLS. What is served there counts for the host too. */
async function askLedToHttps(ctx: Context, url: string): Promise<Shown> {
  const answer = await readChallenge(ctx, url)
  const secured = url.replace(/^http:/, 'https:')
  return answer.location === secured ? await readChallenge(ctx, secured) : answer
}

type Shown = { status: number; text: string; location: string | null }

/** Reads what a host serves. Throws `OutboundError`, also after `wholeMs`: hosts may send a byte now and then. */
export async function readChallenge(ctx: Context, url: string, wholeMs = WHOLE_MS): Promise<Shown> {
  const answer = await ctx.outbound.request(new URL(url), {
    method: 'GET',
    headers: [['accept', 'text/plain']],
    body: null,
    headTimeoutMs: TIMEOUT_MS,
    idleTimeoutMs: TIMEOUT_MS,
    signal: AbortSignal.timeout(wholeMs),
    mayBePlain: true,
  })
  const { status, body, headers } = answer
  if (status === 200)
    return {
      status,
      text: new TextDecoder().decode(await readLimited(answer, MAX_BYTES)).trim(),
      location: null,
    }
  // The body of other responses may be of any length.
  void leave({ body })
  const [, location = null] = headers.find(([name]) => name === 'location') ?? []
  return {
    status,
    text: '',
    location: location !== null && status >= 300 && status < 400 ? hrefOf(location) : null,
  }
}

/** Leaves out a default port, as nginx writes in `https://host:443/`; null for anything but a full address. */
const hrefOf = (location: string): string | null => (URL.canParse(location) ? new URL(location).href : null)
