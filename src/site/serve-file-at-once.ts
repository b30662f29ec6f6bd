import type { Context } from '../context.ts'
import { isDynamic } from '../domain/routing/source.ts'
import type { Arrival } from '../http/arrival.ts'
import { chooseRule } from './choose-rule.ts'
import { maySeeStill } from './gate-memory.ts'
import { keepFromOthers } from './keep-from-others.ts'
import { knowAnswer } from './known-urls.ts'
import { loadManifest } from './manifest.ts'
import type { SitePages } from './pages.ts'
import { redirectTo } from './redirect-to.ts'
import { sureAt } from './routed-visit.ts'
import { isOurs, isPlainRead, serveAsset } from './serve-asset.ts'
import type { Site } from './site.ts'
import { routingOf } from './site-routing.ts'

/**
 * The usual case: a file that everybody may see, or that the sender was shown before. Needs no look-ups. Undefined if
 * anything else could answer.
 */
export function serveFileAtOnce(
  ctx: Context,
  pages: SitePages,
  site: Site,
  arrival: Arrival,
): Response | undefined {
  if (!isPlainRead(arrival) || isOurs(arrival.plain) || !isFileOnly(site, arrival)) return undefined
  if (!site.isShared && !maySeeStill(ctx, arrival.request, site)) return undefined
  const routing = routingOf(ctx, site)
  if (routing === null) return serveAsset(ctx, pages, site, { arrival })
  const sure = sureAt(routing, site, arrival, () => loadManifest(ctx, site).targets.has(arrival.plain))
  if (sure === null) return undefined
  if (sure.redirect === undefined)
    return serveAsset(ctx, pages, site, { arrival, dress: () => sure.dressing })
  const { line, result } = sure.redirect
  const answer = redirectTo(result, line.status, site, { mount: arrival.mount, isConditional: false })
  if (!site.visibility.isPublic) keepFromOthers(answer.headers)
  // Of the others strangers can make up many.
  if (site.isShared && !isDynamic(line.source)) knowAnswer(ctx, arrival.request, site, answer)
  return answer
}

/** The site is the same for everybody who may see it, and no rule takes the request. */
const isFileOnly = (site: Site, arrival: Arrival): boolean =>
  site.isOpen || (site.split === null && chooseRule(site.rules, arrival) === undefined)
