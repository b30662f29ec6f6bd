import type { Context, SitePlace } from '../../context.ts'
import { allowsSignup } from '../projects/service.ts'
import { readSettings } from '../settings/read-settings.ts'
import { gatedProject } from './gate.ts'
import type { LoginMethods } from './model.ts'

/** How people may sign in on the host. Google is an OpenID provider like others. */
export function loginMethods(ctx: Context, site: SitePlace): LoginMethods {
  const projectId = gatedProject(ctx, site)
  const allowSignup = isSignUpOpen(ctx, projectId)
  const place = { hasPassword: true, hasGoogle: false } as const
  return {
    password: true,
    providers: ctx.config.oidcProviders.map(({ id, displayName }) => ({ id, kind: 'oidc', displayName })),
    ...place,
    allowSignup,
    workspace: { ...place, allowSignup: projectId === null ? allowSignup : true },
    ...(projectId === null ? {} : { project: { allowSignup } }),
  }
}

/** Whether strangers may sign up: the project decides behind the gate, the workspace elsewhere (null). */
export const isSignUpOpen = (ctx: Context, gatedProjectId: string | null): boolean =>
  gatedProjectId === null ? readSettings(ctx).allowPublicSignups.value : allowsSignup(ctx, gatedProjectId)
