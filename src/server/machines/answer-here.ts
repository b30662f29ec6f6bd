import type { Caller, Context } from '../../context.ts'
import { AUTH_DIALOG_PATH } from '../../domain/auth-dialog-path.ts'
import { notPrimary } from '../../domain/store-errors.ts'
import type { Arrival } from '../../http/arrival.ts'
import { factsAbout, recordFacts } from '../../http/request-facts.ts'
import { standingCaller } from '../../modules/auth/standing-caller.ts'
import { ContentMiss } from '../../platform/blob-store.ts'
import { parsePathForm } from '../../site/parse-path-form.ts'
import { servePathForm } from '../../site/path-forms.ts'
import { chooseWay, planVisit } from '../../site/plan-visit.ts'
import { resolveHost } from '../../site/resolve-site.ts'
import { isOurs } from '../../site/serve-asset.ts'
import { serveFileAtOnce } from '../../site/serve-file-at-once.ts'
import { serveSite } from '../../site/serve-site.ts'
import type { Site } from '../../site/site.ts'
import type { Visitor } from '../../site/visit.ts'
import { type Endpoints, serveNowhere, servePlace } from '../route-request.ts'
import { isPathForm } from './asked-path.ts'

/** A read that came to a machine that follows. `isSure`: what is here is so new that it may decide who may see what. */
type Asked = { ctx: Context; endpoints: Endpoints; arrival: Arrival; isSure: boolean }

/**
 * What such a machine answers by itself, which writes nothing and calls nobody; undefined, or `NOT_PRIMARY` thrown, for what
 * is the primary's. contract 18 §6.
 */
export function answerHere(asked: Asked): Response | Promise<Response> | undefined {
  const { ctx, endpoints, arrival } = asked
  const { path, plain } = arrival
  if (isOurs(plain)) return answerOurs(asked)
  const place = resolveHost(ctx, arrival.hostHeader)
  if (place?.kind === 'site') return fileAtOnce(asked, place) ?? answerHosted(asked, place)
  if (place?.kind === 'admin') return isPathForm(path) ? answerPathForm(asked) : undefined
  if (place !== undefined) return servePlace(endpoints, arrival, place)
  // What does not exist must be as what may not be known of: who is sent on for the one is sent on for the other.
  visitorOf(asked, null).callerOf()
  return serveNowhere(endpoints, arrival)
}

/** How this machine is, which only it can say. On a site's host the site comes first. */
export function answerAboutItself(asked: Asked): ReturnType<typeof answerHere> {
  const { ctx, endpoints, arrival } = asked
  const place = resolveHost(ctx, arrival.hostHeader)
  const site = place?.kind === 'site' ? place : null
  const visitor = visitorOf(asked, site)
  const isService =
    site === null
      ? place?.kind === 'admin'
      : chooseWay(ctx, site, endpoints.isApiRoute, visitor).to === 'service'
  return isService ? endpoints.admin(arrival) : answerHere(asked)
}

/** What the pages here are made of, and the dialog that sites embed. */
function answerOurs({ ctx, endpoints, arrival }: Asked): Response | Promise<Response> | undefined {
  const place = resolveHost(ctx, arrival.hostHeader)
  if (arrival.path !== AUTH_DIALOG_PATH) return endpoints.asset(arrival.path)
  return place?.kind === 'site' || place?.kind === 'admin' ? endpoints.admin(arrival) : undefined
}

/** What has to be fetched first is not served at once. */
function fileAtOnce({ ctx, endpoints, arrival, isSure }: Asked, site: Site): Response | undefined {
  if (!isSure && !site.isShared) return undefined
  try {
    return serveFileAtOnce(ctx, endpoints.pages, site, arrival)
  } catch (error) {
    if (error instanceof ContentMiss) return undefined
    throw error
  }
}

function answerHosted(asked: Asked, site: Site): Response | Promise<Response> {
  const { ctx, endpoints } = asked
  const { shown, visit } = planVisit(ctx, site, visitorOf(asked, site))
  return serveSite(ctx, endpoints.pages, shown, visit)
}

function answerPathForm(asked: Asked): Response | Promise<Response> | undefined {
  const { ctx, endpoints, arrival } = asked
  const visitor = visitorOf(asked, null)
  if (parsePathForm(ctx, arrival.path)?.site.visibility.isPublic !== true) visitor.callerOf()
  return servePathForm(ctx, endpoints.pages, visitor)
}

function visitorOf({ ctx, arrival, isSure }: Asked, site: Site | null): Visitor {
  const place = site === null ? null : { projectId: site.project.id, host: site.host }
  const { facts } = recordFacts(arrival, factsAbout(arrival, place))
  const callerOf = (): Caller => {
    if (!isSure) throw notPrimary()
    return standingCaller(ctx, arrival.request)
  }
  return { arrival, facts, callerOf }
}
