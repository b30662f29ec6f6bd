import type { Context } from '../../src/context.ts'
import { isUuid } from '../../src/domain/uuid.ts'
import { authorize } from '../../src/modules/auth/authorize.ts'
import { aboutProjectName } from '../../src/modules/projects/service.ts'
import { redirectTo, viewerOf } from '../frame/page-request.ts'
import { projectHref } from '../frame/project-frame.ts'

/**
 * `/projects/acme/docs/aliases` leads to the page of the project's id, for those who may see the project; throws what its
 * page does for others. Undefined for every other address. contract 17.1.
 */
export function leadByName(ctx: Context, request: Request): Response | undefined {
  const { pathname, search } = new URL(request.url)
  const [, owner, name, rest = ''] = /^\/projects\/([^/]+)\/([^/]+)(\/.*)?$/.exec(pathname) ?? []
  if (owner === undefined || name === undefined || isUuid(owner)) return undefined
  if (request.method !== 'GET' && request.method !== 'HEAD') return undefined
  const about = aboutProjectName(ctx, decoded(owner), decoded(name))
  const { projectId } = authorize(ctx, viewerOf(ctx, request).caller, 'project:see', about, true)
  return redirectTo(302, projectHref(projectId ?? '', rest) + search)
}

/** What is no text in UTF-8 is no name either. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return ''
  }
}
