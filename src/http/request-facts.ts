import type { Caller, RequestFacts } from '../context.ts'

/**
 * What the front door knows about a request, plus what later steps add: the caller, the `Generation` of access it was
 * determined at, and cookies to set.
 */
export type Noted = { facts: RequestFacts; caller?: Caller; callerAsOf?: number; setCookies: string[] }

const notes = new WeakMap<Request, Noted>()

export function note(request: Request, facts: RequestFacts): Noted {
  const noted: Noted = { facts, setCookies: [] }
  notes.set(request, noted)
  return noted
}

/** Throws for a request that did not come through the front door. */
export function notedOf(request: Request): Noted {
  const noted = notes.get(request)
  if (noted === undefined) throw new Error('The request did not come through the front door')
  return noted
}

/** False for a request that failed before the front door recorded anything. */
export const isNoted = (request: Request): boolean => notes.has(request)

export const factsOf = (request: Request): RequestFacts => notedOf(request).facts
