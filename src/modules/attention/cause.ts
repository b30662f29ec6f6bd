import type { Context } from '../../context.ts'
import type { ProjectAction } from '../../domain/access.ts'

/** Something that somebody should look at, as it is found: `at` in milliseconds since 1970. */
export type Found = {
  code: AttentionCode
  severity: 'error' | 'warn'
  /** Null: of the workspace, for its admins alone. */
  projectId: string | null
  /** A sentence with the very path, host or rule. */
  message: string
  /** The page of the admin that shows it, and what a role must allow to open that. */
  href: string
  needs: ProjectAction | null
  at: number
}

export const ATTENTION_CODES = [
  'errors',
  'domain-unverified',
  'certificate-failing',
  'no-start-page',
  'release-held',
  'rule-failing',
  'secret-missing',
  'backup-none',
  'backup-failed',
  'disk-low',
  'key-suspended',
  'webhook-off',
] as const
export type AttentionCode = (typeof ATTENTION_CODES)[number]

/** What a cause finds in some projects. It reads, and changes nothing. */
export type ProjectCause = (ctx: Context, projectIds: readonly string[]) => Found[]
