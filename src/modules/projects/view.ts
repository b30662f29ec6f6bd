import type { PrivateSiteResponse } from '../../config.ts'
import type { Caller, Context } from '../../context.ts'
import { isoTime } from '../../domain/iso-time.ts'
import type { ProjectRole } from '../../domain/roles.ts'
import { authorize } from '../auth/authorize.ts'
import { findPrimaryLabel, type Project } from './queries.ts'

/** The record of the API. contract §4. `role` is the caller's. */
export type ProjectView = {
  id: string
  owner: string
  name: string
  displayName: string
  isPublic: boolean
  allowPublicSignup: boolean
  requiredRole: ProjectRole
  isSpa: boolean | null
  privateSiteResponse: PrivateSiteResponse | null
  url: string | null
  role: ProjectRole | null
  createdAt: string
  updatedAt: string
}

export function viewFor(ctx: Context, caller: Caller, project: Project): ProjectView {
  const { createdAt, updatedAt, ...rest } = project
  return {
    ...rest,
    url: primaryUrl(ctx, project.id),
    role: authorize(ctx, caller, 'project:see', { projectId: project.id }, true).role,
    createdAt: isoTime(createdAt),
    updatedAt: isoTime(updatedAt),
  }
}

/** Where visitors find the project: its alias `production`, else its oldest; null while nothing is published. */
export function primaryUrl(ctx: Context, projectId: string): string | null {
  const label = findPrimaryLabel(ctx.db, projectId)
  return label === undefined ? null : ctx.siteUrl(`${label}.${ctx.config.baseDomain}`)
}
