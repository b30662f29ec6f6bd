import type { Outbound, OutboundRequest, OutboundResponse } from '../outbound.ts'
import { OutboundError } from './error.ts'
import { leave } from './read.ts'

const MAX_REDIRECTS = 5
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/**
 * A GET that follows redirects; `url` is the address that answered. Each is checked as the first; one that is not https, and
 * too many, reject with `OutboundError`. contract 14.5.
 */
export async function getFollowing(
  outbound: Outbound,
  first: URL,
  request: Pick<OutboundRequest, 'headers' | 'headTimeoutMs' | 'idleTimeoutMs' | 'signal'>,
): Promise<OutboundResponse & { url: URL }> {
  let url = first
  for (let hops = 0; ; hops++) {
    const response = await outbound.request(url, { ...request, method: 'GET', body: null })
    const next = REDIRECTS.has(response.status) ? locationOf(response, url) : null
    if (next === null) return { ...response, url }
    await leave(response)
    if (hops === MAX_REDIRECTS)
      throw new OutboundError('broken', `${first.host} redirects more than ${MAX_REDIRECTS} times`)
    url = next
  }
}

function locationOf({ headers }: OutboundResponse, from: URL): URL | null {
  const location = headers.find(([name]) => name === 'location')?.[1]
  return location === undefined ? null : URL.parse(location, from)
}
