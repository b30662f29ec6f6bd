import type { Caller, RequestFacts } from '../context.ts'
import type { BodyShare } from './body-share.ts'

/**
 * What the front door knows about a request, plus what later steps add: the caller, the `Generation` of access it was
 * determined at, and cookies to set.
 */
export type RequestState = {
  facts: RequestFacts
  caller?: Caller
  callerAsOf?: number
  setCookies: string[]
  /** Of a body that is held until the request is answered. */
  share?: BodyShare
}

const states = new WeakMap<Request, RequestState>()

export function recordFacts(request: Request, facts: RequestFacts): RequestState {
  const state: RequestState = { facts, setCookies: [] }
  states.set(request, state)
  return state
}

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
