import type { Context } from '../context.ts'
import { generationCache } from '../db/generation.ts'
import { AppError } from '../domain/errors.ts'
import { findProjectById } from '../modules/projects/service.ts'

const projects = generationCache<Record<string, unknown>>('sites')

/** `project` as expressions see it. Throws 404. */
export function pipelineProject(ctx: Context, projectId: string): Record<string, unknown> {
  const project = projects.get(ctx.db, projectId, () => {
    const found = findProjectById(ctx, projectId)
    if (found === undefined) return undefined
    const { id, owner, name, displayName, isPublic } = found
    return { id, owner, name, displayName, isPublic }
  })
  if (project === undefined) throw new AppError('not_found', 'There is no such project')
  return project
}
