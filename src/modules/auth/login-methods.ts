import type { Context, SitePlace } from '../../context.ts'
import { allowsSignup } from '../projects/service.ts'
import { readSettings } from '../settings/service.ts'
import { gatedProject } from './gate.ts'
import type { LoginMethods } from './model.ts'

/** How people may sign in on the host. */
export const loginMethods = (ctx: Context, site: SitePlace): LoginMethods => ({
  password: true,
  providers: ctx.config.oidcProviders.map(({ id, displayName }) => ({ id, displayName })),
  allowSignup: isSignUpOpen(ctx, gatedProject(ctx, site)),
})

/** Whether strangers may sign up: the project decides behind the gate, the workspace elsewhere (null). */
export const isSignUpOpen = (ctx: Context, gatedProjectId: string | null): boolean =>
  gatedProjectId === null ? readSettings(ctx).allowPublicSignups.value : allowsSignup(ctx, gatedProjectId)
