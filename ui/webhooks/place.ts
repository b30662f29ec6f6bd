import type { Context } from '../../src/context.ts'
import type { Grant } from '../../src/modules/auth/authorize.ts'
import type { Content, Html } from '../components/html.ts'
import type { Notice } from '../components/notice.ts'
import type { Crumb } from '../frame/layout.ts'
import { projectFrame } from '../frame/project-frame.ts'
import {
  administer,
  type Failed,
  type Intent,
  lookAt,
  submitProjectForm,
  submitWorkspaceForm,
} from '../frame/project-request.ts'
import { workspaceFrame } from '../workspace/frame.ts'

/** Where hooks are: in a project or in the workspace. The pages are the same. */
export type Place = {
  /** The address of the list. */
  href: string
  isProject: boolean
  grant: Grant
  frame(page: { title: string; crumbs: readonly Crumb[]; notices: readonly Notice[] }, body: Content): Html
}

/** The path parameters; without `id` the workspace is meant. */
export type At = { id?: string; hookId?: string; deliveryId?: string }

/** Throws 401, 403 or 404 unless the person may manage the hooks there. */
export function placeOf(ctx: Context, request: Request, { id }: At): Place {
  if (id === undefined) return workspacePlace(ctx, request)
  const looking = lookAt(ctx, request, id, 'webhook:manage')
  return {
    href: hrefOf({ id }),
    isProject: true,
    grant: looking.grant,
    frame: ({ notices, ...page }, body) =>
      projectFrame({ ...looking, notices }, { tab: 'webhooks', ...page }, body),
  }
}

function workspacePlace(ctx: Context, request: Request): Place {
  const { user, grant } = administer(ctx, request)
  return {
    href: hrefOf({}),
    isProject: false,
    grant,
    frame: ({ notices, ...page }, body) =>
      workspaceFrame({ user, notices }, { place: 'webhooks', ...page }, body),
  }
}

export const hrefOf = ({ id }: At): string =>
  id === undefined ? '/admin/webhooks' : `/projects/${id}/webhooks`

type Forms = {
  intents: Readonly<Record<string, Intent>>
  show(failed: Failed): Response | Promise<Response>
}

export const submitAt = (ctx: Context, request: Request, { id }: At, forms: Forms): Promise<Response> =>
  id === undefined
    ? submitWorkspaceForm(ctx, request, forms)
    : submitProjectForm(ctx, request, { projectId: id, action: 'webhook:manage', ...forms })
