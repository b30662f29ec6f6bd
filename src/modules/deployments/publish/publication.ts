import type { LeftOutPaths } from '../../../domain/deploy-report/left-out.ts'
import type { PreviewOrder } from '../../aliases/previews/renew.ts'
import type { RuleSetChoice } from '../../rule-sets/service.ts'

/** The fields of an upload; null where a field is not given. contract §5.2. */
export type Publication = {
  owner: string
  repo: string
  /** Lower case. */
  commitSha: string
  branch: string | null
  description: string | null
  workflowName: string | null
  workflowRunId: string | null
  /** Milliseconds since 1970. */
  committedAt: number | null
  tags: readonly string[] | null
  /** For a project that this upload creates. */
  isPublic: boolean
  /** The alias or preview to point here. */
  alias: string | null
  preview: PreviewOrder
  /** `''`, or a folder such as `/dist`. */
  basePath: string | null
  /** Nothing is taken away from what the commit's newest version has. */
  append: boolean
  /** The commit that a changed working tree stood on. */
  baseSha: string | null
  ruleSets: RuleSetChoice
  /** Whatever the checks find, the alias moves. */
  force: boolean
  /** Where it is unclear what the alias would show, it stays; missing in uploads that began before there was such a field. */
  ask?: boolean
  /** What was not taken in; missing in uploads that began before it was noted. */
  leftOut?: LeftOutPaths
}
