import { parseWebUrl } from '../../domain/web-url.ts'
import type { Outbound, OutboundRequest, OutboundResponse } from '../outbound.ts'
import { OutboundError } from './error.ts'

/** contract 14.5, Fetching. */
const MAX_REDIRECTS = 5
const REDIRECTS = new Set([301, 302, 303, 307, 308])

/**
 * A GET that follows up to 5 redirects, each of them checked like the first address. `url` is that of the answer. Rejects
 * with `OutboundError`.
 */
export async function getFollowing(
  outbound: Pick<Outbound, 'request'>,
  url: URL,
  request: Omit<OutboundRequest, 'method' | 'body' | 'target' | 'mayBePlain'>,
): Promise<OutboundResponse & { url: URL }> {
  let at = url
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    const response = await outbound.request(at, { ...request, method: 'GET', body: null })
    const location = response.headers.find(([name]) => name === 'location')?.[1]
    if (!REDIRECTS.has(response.status) || location === undefined) return { ...response, url: at }
    await leave(response)
    at = nextOf(location, at)
  }
  throw new OutboundError('broken', `${url.host} redirects more than ${MAX_REDIRECTS} times`)
}

function nextOf(location: string, from: URL): URL {
  const next = URL.canParse(location, from.href) ? parseWebUrl(new URL(location, from.href).href) : null
  if (next === null || next.protocol !== 'https:')
    throw new OutboundError('broken', `${from.host} redirects to what is no https address`)
  return next
}

/** Gives the connection of a response up whose body nobody reads. */
export async function leave({ body }: OutboundResponse): Promise<void> {
  if (body instanceof ReadableStream) await body.cancel().catch(() => undefined)
}
