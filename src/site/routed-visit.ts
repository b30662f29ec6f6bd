import type { Caller, Context } from '../context.ts'
import { decideView } from '../domain/access.ts'
import { GLOBAL_ROLES, PROJECT_ROLES, roleLevel } from '../domain/roles.ts'
import { isConditional, type VisitorFacts, variesBy, visitorFacts } from '../domain/routing/conditions.ts'
import { firstLine, type LineMiss, type TakenLine } from '../domain/routing/first-line.ts'
import { addVary, effectOf, type MatchedBlock, makePrivate } from '../domain/routing/header-effect.ts'
import { isRedirect, type RedirectLine, resultOf } from '../domain/routing/redirects.ts'
import { matchSource } from '../domain/routing/source.ts'
import { candidatesAt } from '../domain/routing/source-index.ts'
import type { Arrival } from '../http/arrival.ts'
import { roleOnSite } from '../modules/auth/authorize.ts'
import { Dressing } from './dressing.ts'
import type { Site } from './site.ts'
import { routingOf, type SiteRouting, type Sure } from './site-routing.ts'
import type { Trace } from './trace.ts'

/** Who asks for what. */
type Asking = { arrival: Arrival; callerOf: () => Caller; trace?: Trace | undefined }

/** One request to a site with routing files: which lines take it, and what its blocks do. contract 13 §4. */
export class RoutedVisit {
  readonly #site: Site
  readonly #routing: SiteRouting
  readonly #visitor: Asking
  readonly #facts: VisitorFacts
  readonly #looked = new Set<RedirectLine>()
  #lines: readonly RedirectLine[] | undefined

  constructor(ctx: Context, site: Site, routing: SiteRouting, visitor: Asking) {
    this.#site = site
    this.#routing = routing
    this.#visitor = visitor
    const { headers } = visitor.arrival.request
    this.#facts = visitorFacts(headers, (roles) => hasRole(ctx, site, visitor, roles))
  }

  /** The 3xx line that takes the request. */
  redirect(): TakenLine | undefined {
    return this.#first(isRedirect)
  }

  /** The 200 line with an address that takes the request, forced or not. */
  proxied(): TakenLine | undefined {
    return this.#first(isProxied)
  }

  /** The 200, 404 or 410 line that answers before files do, or where none is. */
  other(isForced: boolean, isThere: (taken: TakenLine) => boolean): TakenLine | undefined {
    return this.#first((line) => !isRedirect(line) && line.force === isForced, isThere)
  }

  /** Whether a line with an address may take the request. */
  mayProxy(): boolean {
    return this.#taking().some(isProxied)
  }

  /** Whether a line with a condition takes the path, held or not: what is answered may depend on who asks. */
  get isConditional(): boolean {
    return this.#taking().some(({ conditions }) => isConditional(conditions))
  }

  /** Says what the answer varies by, and keeps it out of shared caches if that is a cookie. contract 13 §2. */
  vary({ headers }: Response): void {
    const by = this.#taking().map(({ conditions }) => variesBy(conditions))
    if (by.some(({ language }) => language)) addVary(headers, 'Accept-Language')
    if (by.some(({ cookie }) => cookie)) makePrivate(headers)
  }

  /** What is done to the headers of a file; undefined if nothing. */
  dressing(): Dressing | undefined {
    const { arrival, trace } = this.#visitor
    const matched = blocksAt(this.#routing, arrival)
    if (trace !== undefined && matched.length > 0)
      traceBlocks(trace, `${this.#site.basePath}/_headers`.slice(1), matched)
    return dressingOf(this.#routing, this.#site, arrival, matched)
  }

  /** Tells of the lines that were not come to, because something else answered. */
  traceRest(): void {
    for (const line of this.#visitor.trace === undefined ? [] : this.#taking())
      if (!this.#looked.has(line)) this.#tell(line, 'not_reached')
  }

  #first(
    isWanted: (line: RedirectLine) => boolean,
    isThere?: (taken: TakenLine) => boolean,
  ): TakenLine | undefined {
    const { arrival, trace } = this.#visitor
    const onLine =
      trace === undefined ? undefined : (line: RedirectLine, miss: LineMiss | null) => this.#tell(line, miss)
    return firstLine(this.#routing.lines, {
      asked: arrival,
      facts: this.#facts,
      isWanted,
      ...(isThere === undefined ? {} : { isThere }),
      onLine,
    })
  }

  /** The lines whose source takes the path. */
  #taking(): readonly RedirectLine[] {
    this.#lines ??= linesAt(this.#routing, this.#visitor.arrival)
    return this.#lines
  }

  #tell(line: RedirectLine, miss: LineMiss | null): void {
    if (miss === 'path') return
    this.#looked.add(line)
    const { source, target, status, line: number } = line
    const reason = miss ?? 'match'
    this.#visitor.trace?.add('redirect', `_redirects:${number} ${source.text}: ${REASONS[reason]}`, {
      file: `${this.#site.basePath}/_redirects`.slice(1),
      line: number,
      source: source.text,
      target: target?.text ?? null,
      status,
      matched: miss === null,
      reason,
    })
  }
}

const REASONS: Record<Exclude<LineMiss, 'path'> | 'match', string> = {
  match: 'it takes the request',
  query: 'the query does not match',
  address: 'it would lead to the address asked for, or to none',
  target: 'the deployment has no such file',
  Language: 'the condition Language does not hold',
  Cookie: 'the condition Cookie does not hold',
  Role: 'the condition Role does not hold',
  not_reached: 'something before it answers',
}

export const isProxied = ({ status, target }: RedirectLine): boolean =>
  status === 200 && target?.origin != null

/** Undefined for a site without routing files, which pays nothing. */
export function routedVisit(ctx: Context, site: Site, visitor: Asking): RoutedVisit | undefined {
  const routing = routingOf(ctx, site)
  return routing === null ? undefined : new RoutedVisit(ctx, site, routing, visitor)
}

/**
 * What a read of the path gets whoever asks; null if that is not sure. `hasFile` says whether a file of the deployment
 * answers before lines that are not forced.
 */
export function sureAt(
  routing: SiteRouting,
  site: Site,
  arrival: Arrival,
  hasFile: () => boolean,
): Sure | null {
  const { sure } = routing
  const key = `${site.isShared ? '' : 'private '}${arrival.hostHeader} ${arrival.path}`
  const known = sure.get(key)
  if (known !== undefined) return known
  const taking = linesAt(routing, arrival)
  const found = findSure(routing, site, arrival, taking, hasFile)
  // What a 3xx line makes of a request depends on its query.
  if (found?.redirect === undefined && found !== null && !taking.some(isRedirect))
    sure.keep(key, found, found.dressing?.isOfOnePath === true ? found.dressing.size : 0)
  return found
}

function findSure(
  routing: SiteRouting,
  site: Site,
  arrival: Arrival,
  taking: readonly RedirectLine[],
  hasFile: () => boolean,
): Sure | null {
  if (taking.some(({ conditions }) => isConditional(conditions))) return null
  for (const line of taking) {
    const found = isRedirect(line) ? resultOf(line, arrival) : null
    if (found?.result != null) return { redirect: { line, result: found.result } }
  }
  const others = taking.filter((line) => !isRedirect(line))
  if (others.some(({ force }) => force) || (others.length > 0 && !hasFile())) return null
  return { dressing: dressingOf(routing, site, arrival, blocksAt(routing, arrival)) }
}

/** The lines whose source takes the path. */
const linesAt = ({ lines }: SiteRouting, arrival: Arrival): RedirectLine[] =>
  candidatesAt(lines, arrival).filter(({ source }) => matchSource(source, arrival) !== null)

const blocksAt = ({ blocks }: SiteRouting, arrival: Arrival): MatchedBlock[] =>
  candidatesAt(blocks, arrival).flatMap((block) => {
    const captures = matchSource(block.source, arrival)
    return captures === null ? [] : [{ block, captures }]
  })

/** Addresses at which the same blocks match share one, unless their values hold parts of the path. */
function dressingOf(
  { dressings }: SiteRouting,
  { isShared }: Site,
  { mount }: Arrival,
  matched: readonly MatchedBlock[],
): Dressing | undefined {
  if (matched.length === 0) return undefined
  const place = { isPrivate: !isShared, isAdminHost: mount !== '' }
  if (matched.some(({ block }) => block.set.some(({ value }) => value.some(isInserted))))
    return new Dressing(effectOf(matched), place, true)
  const key = JSON.stringify([matched.map(({ block }) => block.line), place])
  const known = dressings.get(key)
  if (known !== undefined) return known
  const made = new Dressing(effectOf(matched), place)
  dressings.keep(key, made, made.size)
  return made
}

const isInserted = (part: unknown): boolean => typeof part !== 'string'

function traceBlocks(trace: Trace, file: string, matched: readonly MatchedBlock[]): void {
  const lines = matched.map(({ block }) => block.line)
  trace.add('headers', `_headers:${lines.join(', ')} set or remove headers`, {
    file,
    lines,
    set: matched.flatMap(({ block }) => block.set.map(({ line, name }) => ({ line, name }))),
    unset: matched.flatMap(({ block }) => block.unset),
  })
}

/** As `roles` of a pipeline's validator: the global role, and the role on the project with those below it. */
function hasRole(ctx: Context, site: Site, { callerOf }: Asking, roles: readonly string[]): boolean {
  const caller = callerOf()
  const { actor } = caller
  const role = roleOnSite(ctx, caller, site.project.id)
  if (!decideView(site.visibility, role).allowed) return false
  const held: string[] = role === null ? [] : PROJECT_ROLES.slice(0, roleLevel(role) + 1)
  if (actor.kind === 'user') held.push(...GLOBAL_ROLES.filter((known) => known === actor.user.role))
  return roles.some((one) => held.includes(one))
}
