import type { Context, SitePlace } from '../../context.ts'
import { allowsSignup } from '../projects/service.ts'
import { readSettings } from '../settings/service.ts'
import { gatedProject } from './gate.ts'
import type { LoginMethods } from './model.ts'

/** How somebody may sign in on the host. */
export const loginMethods = (ctx: Context, site: SitePlace): LoginMethods => ({
  password: true,
  providers: ctx.config.oidcProviders.map(({ id, displayName }) => ({ id, displayName })),
  allowSignup: isSignUpOpen(ctx, gatedProject(ctx, site)),
})

/** Whether a stranger may sign up: behind the gate the project says, else (null) the workspace. */
export const isSignUpOpen = (ctx: Context, gatedProjectId: string | null): boolean =>
  gatedProjectId === null ? readSettings(ctx).allowPublicSignups.value : allowsSignup(ctx, gatedProjectId)
