import type { Context } from '../../src/context.ts'
import { deploymentName } from '../../src/domain/deployment-name.ts'
import type { AppError } from '../../src/domain/errors.ts'
import { listAliases } from '../../src/modules/aliases/service.ts'
import type { Grant } from '../../src/modules/auth/authorize.ts'
import { aliasesWithStartPage } from '../../src/modules/deployments/browse.ts'
import type { FormError } from '../components/field.ts'
import { ownerFor } from '../projects/new-project.ts'
import type { PublishPanelProps, Shown } from './publish-panel.ts'

/** A form that was refused, with what was typed. */
export type Refused = {
  error: FormError & Partial<Pick<AppError, 'headers'>>
  values: Readonly<Record<string, string>>
}

/** The panel that makes a project. */
export const newProjectPanel = (ctx: Context, email: string, failed?: Refused): PublishPanelProps => ({
  target: { kind: 'new', owner: ownerFor(email) },
  commitSha: newSha(ctx),
  maxFiles: ctx.config.maxDeploymentFiles,
  ...failed,
})

/** What the form to publish needs to know. */
export const publishing = (ctx: Context, grant: Grant, { id }: { id: string }) => ({
  apiUrl: ctx.adminUrl(),
  commitSha: newSha(ctx),
  maxFiles: ctx.config.maxDeploymentFiles,
  shows: shownBy(ctx, grant, id),
})

/** The 100 aliases that moved last: others count as new. */
function shownBy(ctx: Context, grant: Grant, projectId: string): Record<string, Shown> {
  const started = new Set(aliasesWithStartPage(ctx, grant))
  const { data } = listAliases(ctx, grant, { projectId, limit: '100', sort: 'updatedAt' })
  return Object.fromEntries(
    data.map((alias) => [
      alias.name.toLowerCase(),
      { name: deploymentName(alias), hasStartPage: started.has(alias.name) },
    ]),
  )
}

/** An upload from a browser has no commit, so it gets 40 unique digits instead. */
const newSha = (ctx: Context): string => Bun.SHA1.hash(`browser ${ctx.newId()}`, 'hex')
