import type { ProjectCause } from '../cause.ts'
import { listHeld, listStartless } from '../queries.ts'

export const withoutStartPage: ProjectCause = (ctx, projectIds) =>
  listStartless(ctx.db, projectIds).map(({ projectId, alias, deploymentId, at }) => ({
    code: 'no-start-page',
    severity: 'warn',
    projectId,
    message: `${alias} shows nothing at its address: the deployment has no index.html there.`,
    href: `/projects/${projectId}/deployments/${deploymentId}`,
    needs: 'project:read',
    at,
  }))

/** Releases that their checks, or a question, held back. */
export const heldReleases: ProjectCause = (ctx, projectIds) =>
  listHeld(ctx.db, projectIds).map(({ projectId, alias, deploymentId, number, isAsked, at }) => ({
    code: 'release-held',
    severity: 'error',
    projectId,
    message: `The newest deployment for ${alias}, #${number}, is not live: ${isAsked ? 'it has no start page at its top' : 'its checks held it back'}.`,
    href: `/projects/${projectId}/deployments/${deploymentId}`,
    needs: 'project:read',
    at,
  }))
