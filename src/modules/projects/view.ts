import type { Caller, Context } from '../../context.ts'
import { isoTime } from '../../domain/iso-time.ts'
import { findPrimary } from '../aliases/host-labels.ts'
import { authorize } from '../auth/authorize.ts'
import type { ProjectView } from './model.ts'
import type { Project } from './queries.ts'

export function viewFor(ctx: Context, caller: Caller, project: Project): ProjectView {
  const { createdAt, updatedAt, ...rest } = project
  const shown = findPrimary(ctx.db, project.id)
  return {
    ...rest,
    url: shown === undefined ? null : urlOf(ctx, shown.label),
    icon: shown?.icon ?? null,
    role: authorize(ctx, caller, 'project:see', { projectId: project.id }, true).role,
    createdAt: isoTime(createdAt),
    updatedAt: isoTime(updatedAt),
  }
}

/** Where visitors find the project: at its alias `production`, else its oldest; null while nothing is published. */
export function primaryUrl(ctx: Context, projectId: string): string | null {
  const shown = findPrimary(ctx.db, projectId)
  return shown === undefined ? null : urlOf(ctx, shown.label)
}

const urlOf = (ctx: Context, label: string): string => ctx.siteUrl(`${label}.${ctx.config.baseDomain}`)
