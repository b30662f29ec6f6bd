import type { Caller, Context } from '../context.ts'
import { generationCache } from '../db/generation.ts'
import { sentKey } from '../domain/key-header.ts'
import { isPartOfAnother } from '../http/part-of-another.ts'
import { isCutOff } from '../modules/auth/access-refusal.ts'
import type { Site } from './site.ts'

/** Longer headers contain the site's own cookies. They are checked each time, so that nobody can fill the memory. */
const MAX_COOKIE = 1024

/** For each `Cookie` header, the sites it was allowed to see and until when, if nothing is written. */
const shown = generationCache<WeakMap<Site, number>>('access')

/**
 * Whether the sender may see the site because the same cookies could a moment ago. Needs no hashing, reading or
 * comparing: any change of access clears this cache, and any change of the site creates a new `Site`. False if access
 * has to be decided.
 */
export function maySeeStill(ctx: Context, request: Request, site: Site): boolean {
  const cookies = request.headers.get('cookie')
  if (cookies === null || sentKey(request.headers) !== null || isPartOfAnother(request)) return false
  if (isCutOff(ctx)) return false
  const until = shown.peek(ctx.db, cookies)?.get(site)
  return until !== undefined && until > ctx.now()
}

/** Caches only decisions made on the site's own host: the gate does not apply elsewhere. */
export function rememberView(
  ctx: Context,
  request: Request,
  site: Site,
  { goodUntil, site: place }: Caller,
): void {
  const cookies = request.headers.get('cookie')
  const isHere = place?.host === site.host && place.projectId === site.project.id
  if (goodUntil === undefined || !isHere || cookies === null || cookies.length > MAX_COOKIE) return
  shown.get(ctx.db, cookies, () => new WeakMap())?.set(site, goodUntil)
}
