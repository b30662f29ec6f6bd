import type { Caller, RequestFacts } from '../context.ts'
import type { TakenLine } from '../domain/routing/first-line.ts'
import type { Arrival } from '../http/arrival.ts'
import type { PipelineRule } from '../pipelines/language/model.ts'
import type { RoutedVisit } from './routed-visit.ts'
import type { Site } from './site.ts'
import type { SiteRule } from './site-rules.ts'
import type { Trace } from './trace.ts'

/** Somebody who asks a site for something. */
export type Visitor = {
  arrival: Arrival
  facts: RequestFacts
  /** Only determined if the response depends on it. */
  callerOf: () => Caller
  trace?: Trace | undefined
}

/** The site that a visitor of a traffic split sees, and the headers its responses need. */
export type Variant = { site: Site; headers: Headers }

/** The same with the plan of what answers, which everything except files needs. */
export type Visit = Visitor & {
  /** For a site with routing files. */
  routes?: RoutedVisit | undefined
  /** The line of `_redirects` that takes the request before any file: a 3xx, or for a route of the API an address. */
  line?: TakenLine | undefined
  /** The rule that takes the request. */
  rule: SiteRule | undefined
  /** What of that rule answers everybody, whoever may see the site. */
  forAll?: PipelineRule | undefined
  /** The variant chosen by the traffic split. */
  variant: Variant | undefined
}
