import type { DomainView } from '../../src/modules/domains/service.ts'
import type { TrafficView } from '../../src/modules/traffic/service.ts'
import type { ProjectPageBase } from '../frame/project-frame.ts'
import type { Failed } from '../frame/project-request.ts'

/** What the page of a domain's traffic and its parts show. */
export type TrafficPageProps = ProjectPageBase & {
  domain: DomainView
  /** Undefined if all visitors see the same alias. */
  split: TrafficView | undefined
  aliasNames: readonly string[]
  failed?: Failed | undefined
}
