import type { Context } from '../../context.ts'
import type { Action, ProjectAction } from '../../domain/access.ts'
import { AppError } from '../../domain/errors.ts'
import { isUuid } from '../../domain/uuid.ts'
import type { About, Grant } from '../auth/authorize.ts'
import type { PathInput } from '../auth/guard.ts'
import { aboutProject, aboutProjectName, getProject, type ProjectView } from './service.ts'

/**
 * `GET /api/projects/:id/members` can also mean the project `members` of the owner `:id`: only a UUID is an id there.
 * contract §4. These functions make the guard and the response of such a route.
 */
export const mayBelow = (
  ctx: Context,
  word: string,
  action: ProjectAction,
): { action: (input: PathInput) => Action; on: (input: PathInput) => About } => ({
  action: ({ params }) => (isId(params['id']) ? action : 'project:see'),
  on: ({ params }) =>
    isId(params['id']) ? aboutProject(ctx, params['id']) : aboutProjectName(ctx, params['id'], word),
})

/** The result of `answer` for the project with that id, or the project of that owner. */
export const belowOrProject = <T>(
  ctx: Context,
  grant: Grant,
  id: string,
  answer: () => T,
): T | ProjectView => (isId(id) ? answer() : getProject(ctx, grant))

const isId = (segment: string | undefined): boolean => segment !== undefined && isUuid(segment)

/** For a project's path that only a POST may ask for. */
export function onlyPost(): never {
  const allow = 'OPTIONS, POST'
  throw new AppError('method_not_allowed', `This path does not support GET, only ${allow}`, {
    headers: { allow },
  })
}
