import type { Context } from '../../src/context.ts'
import { mayDo } from '../../src/modules/auth/authorize.ts'
import { callerOf } from '../../src/modules/auth/caller.ts'
import { aboutProject } from '../../src/modules/projects/service.ts'
import type { Html } from '../components/html.ts'
import { type ErrorPageProps, errorPage } from './error.ts'
import { adminFailurePage, projectFailurePage } from './failure.ts'
import { asViewer } from './page-request.ts'
import { lookAt } from './project-request.ts'

/** Somebody who is signed in keeps the admin's frame around a failure, and the project's where they may open it. */
export function framedFailure(ctx: Context, request: Request, props: ErrorPageProps): Html {
  if (props.status >= 500) return errorPage(props)
  const caller = callerOf(ctx, request, 'ignore')
  if (caller.actor.kind !== 'user' || caller.site !== null) return errorPage(props)
  const named = /^\/projects\/([^/]+)/.exec(new URL(request.url).pathname)?.[1]
  const { projectId } = aboutProject(ctx, named)
  if (projectId === null || !mayDo(ctx, caller, 'project:read', projectId))
    return adminFailurePage(asViewer(ctx, caller.actor.user), props)
  return projectFailurePage(lookAt(ctx, request, projectId), props)
}
