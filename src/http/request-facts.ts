import type { Caller, RequestFacts, SitePlace } from '../context.ts'
import { isLoopback } from '../domain/ip-ranges.ts'
import type { Arrival } from './arrival.ts'
import type { BodyShare } from './body-share.ts'

/**
 * What the front door knows about a request, plus what later steps add: the caller, the `Generation` of access it was
 * determined at, and cookies to set.
 */
export type RequestState = {
  arrival: Arrival
  facts: RequestFacts
  caller?: Caller
  callerAsOf?: number
  setCookies: string[]
  /** Of a body that is held until the request is answered. */
  share?: BodyShare
}

const states = new WeakMap<Request, RequestState>()

export function recordFacts(arrival: Arrival, facts: RequestFacts): RequestState {
  const state: RequestState = { arrival, facts, setCookies: [] }
  states.set(arrival.request, state)
  return state
}

/** `site`: what the host shows. */
export function factsAbout(arrival: Arrival, site: SitePlace): RequestFacts {
  const { request, peer, isBehindProxy } = arrival
  return {
    ip: arrival.address,
    isSecure: arrival.isSecure,
    host: arrival.host ?? '',
    hostWithPort: (peer.shownHost ?? arrival.hostHeader).toLowerCase(),
    site,
    peerAddress: peer.sender?.address ?? peer.address,
    isBehindProxy,
    forwardedFor: isBehindProxy ? request.headers.get('x-forwarded-for') : null,
    // Lazy, because few requests need it.
    get isDirectLoopback() {
      return isLoopback(peer.address) && peer.sender === undefined && !cameThroughProxy(request.headers)
    },
  }
}

/** Whether a header says that a proxy forwarded the request. contract §1, SETUP_TOKEN. */
const cameThroughProxy = (headers: Headers): boolean =>
  [...headers.keys()].some((name) => FORWARDING_HEADERS.has(name) || name.startsWith('x-forwarded'))

const FORWARDING_HEADERS = new Set(['forwarded', 'via', 'x-real-ip'])

/** The same request as a GET: what answers a HEAD, before the runtime leaves out the body. RFC 9110 §9.3.2. */
export function asGet(request: Request): Request {
  const get = new Request(request.url, { headers: request.headers, signal: request.signal })
  states.set(get, requestState(request))
  return get
}

/** Throws for a request that did not come through the front door. */
export function requestState(request: Request): RequestState {
  const state = states.get(request)
  if (state === undefined) throw new Error('The request did not come through the front door')
  return state
}

/** False for a request that failed before the front door recorded anything. */
export const hasFacts = (request: Request): boolean => states.has(request)

export const factsOf = (request: Request): RequestFacts => requestState(request).facts
