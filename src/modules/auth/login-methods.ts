import type { Context, SitePlace } from '../../context.ts'
import { allowsSignup } from '../projects/service.ts'
import { readSettings } from '../settings/service.ts'
import type { LoginMethods } from './model.ts'

/** How somebody may sign in on the host. Behind the gate the project says who may sign up, else the workspace. */
export function loginMethods(ctx: Context, site: SitePlace): LoginMethods {
  const { requireProjectMembership, allowPublicSignups } = readSettings(ctx)
  const isGated = site !== null && requireProjectMembership.value
  return {
    password: true,
    providers: ctx.config.oidcProviders.map(({ id, displayName }) => ({ id, displayName })),
    allowSignup: isGated ? allowsSignup(ctx, site.projectId) : allowPublicSignups.value,
  }
}
