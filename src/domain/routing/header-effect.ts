import { privateCacheControl } from '../cache-control.ts'
import type { HeaderBlock } from './headers.ts'
import { filled } from './placeholders.ts'
import type { Captures } from './source.ts'

/** A block that matches a path, with what its source captured. */
export type MatchedBlock = { block: HeaderBlock; captures: Captures }

/** What all matching blocks do together: the names they remove, and the values they end with. */
export type HeaderEffect = { removed: ReadonlySet<string>; values: ReadonlyMap<string, string> }

/** Where an answer is given. `isAdminHost`: below a path form, where the policy of the service stands. */
export type EffectPlace = { isPrivate: boolean; isAdminHost: boolean }

/** Applies blocks in their order: `!` removes, a value replaces, a later block's value is appended. contract 13 §3. */
export function effectOf(matched: readonly MatchedBlock[]): HeaderEffect {
  const removed = new Set<string>()
  const values = new Map<string, string>()
  for (const { block, captures } of matched) {
    for (const { name } of block.unset) {
      values.delete(name)
      removed.add(name)
    }
    for (const { name, value } of block.set) {
      const text = filled(value, captures, asWord)
      const before = values.get(name)
      values.set(name, before === undefined ? text : `${before}, ${text}`)
    }
  }
  return { removed, values }
}

/** The headers of a file's answer with an effect; those given stay as they are. */
export function withEffect(given: Headers, { removed, values }: HeaderEffect, place: EffectPlace): Headers {
  const headers = new Headers(given)
  for (const name of removed) if (mayRemove(name, place)) headers.delete(name)
  for (const [name, value] of values) {
    if (place.isAdminHost && STANDS.has(name)) continue
    if (name === 'vary') addVary(headers, value)
    else if (ADDED.has(name) && headers.has(name)) headers.append(name, value)
    else headers.set(name, value)
  }
  if (place.isPrivate) makePrivate(headers)
  return headers
}

/** Keeps an answer that depends on a visitor's cookies out of shared caches. */
export function makePrivate(headers: Headers): void {
  dropSharedCaches(headers)
  headers.set('cache-control', privateCacheControl(headers.get('cache-control') ?? ''))
  addVary(headers, 'Cookie')
}

/** For a page that says something is not there: no cache keeps it, whatever the site's files say. contract 13 §3. */
export function neverStored(given: Headers): Headers {
  const headers = new Headers(given)
  dropSharedCaches(headers)
  headers.set('cache-control', 'no-store')
  return headers
}

/** Their own headers come before `Cache-Control`. RFC 9213 §2.2. */
function dropSharedCaches(headers: Headers): void {
  for (const name of [...headers.keys()]) if (FOR_SHARED_CACHES.test(name)) headers.delete(name)
}

/** Adds names to `Vary`, each once. */
export function addVary(headers: Headers, names: string): void {
  const all = `${headers.get('vary') ?? ''},${names}`.split(',').map((name) => name.trim())
  const known = new Map<string, string>()
  for (const name of all)
    if (name !== '' && !known.has(name.toLowerCase())) known.set(name.toLowerCase(), name)
  headers.set('vary', [...known.values()].join(', '))
}

/** A path's text is one word of a value: it ends no directive and begins no other one. */
const asWord = (text: string): string => text.replaceAll(',', '%2C').replaceAll(';', '%3B')

const FOR_SHARED_CACHES = /^(?:surrogate-control|(?:.*-)?cdn-cache-control)$/
const CORP = 'cross-origin-resource-policy'

/** Names whose value is added to that of the service, which stays. */
const ADDED: ReadonlySet<string> = new Set(['x-robots-tag', 'content-security-policy'])

/**
 * On the admin host the service's own stand; a policy of the site is sent besides. The others would speak for the admin.
 */
const STANDS: ReadonlySet<string> = new Set([
  'access-control-allow-credentials',
  'access-control-allow-origin',
  CORP,
  'x-content-type-options',
])

/** The service's `noindex` stays, and a private file stays closed to the pages of other sites. */
function mayRemove(name: string, { isPrivate, isAdminHost }: EffectPlace): boolean {
  if (name === 'x-robots-tag') return false
  return !(isAdminHost && STANDS.has(name)) && !(isPrivate && name === CORP)
}
