import type { Context } from '../context.ts'
import type { Arrival } from '../http/arrival.ts'
import { chooseRule } from './choose-rule.ts'
import { maySeeStill } from './gate-memory.ts'
import type { SitePages } from './pages.ts'
import { dressingOfFile } from './routed-visit.ts'
import { isAnswered, isOurs, isPlainRead, serveAsset } from './serve-asset.ts'
import type { Site } from './site.ts'

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
  if (!site.hasRouting) return serveAsset(ctx, pages, site, { arrival })
  const dressing = dressingOfFile(ctx, site, arrival, () => isAnswered(ctx, site, arrival.plain))
  return dressing === null ? undefined : serveAsset(ctx, pages, site, { arrival, dress: () => dressing })
}

/** The site is the same for everybody who may see it, and no rule takes the request. */
const isFileOnly = (site: Site, arrival: Arrival): boolean =>
  site.isOpen || (site.split === null && chooseRule(site.rules, arrival) === undefined)
