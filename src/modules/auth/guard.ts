import { Elysia } from 'elysia'
import type { Context } from '../../context.ts'
import type { Action } from '../../domain/access.ts'
import { readJson } from '../../http/json-body.ts'
import { type About, authorize, denialError, type Grant } from './authorize.ts'
import { callerOf } from './caller.ts'

/** What a guard may look at before the input is validated. */
type Unchecked = {
  request: Request
  params: Record<string, string>
  query: Record<string, string | undefined>
  body: unknown
}

/** What `on` and `onBody` of a rule take apart. */
export type PathInput = Pick<Unchecked, 'params' | 'query'>
export type BodyInput = Pick<Unchecked, 'params' | 'query' | 'body'>

type Rule = {
  action: Action | ((input: Unchecked) => Action)
  /** The project that the path names. */
  on?: (input: Unchecked) => About
  /** The same where the body names it: decided once it is read. */
  onBody?: (input: Unchecked) => About
  /** Throws 404 where the path names something of the workspace that does not exist; only the allowed get here. */
  mustFind?: (input: Unchecked, grant: Grant) => unknown
}

/**
 * `may` on a route: who may call it. Decided before the input is validated, and before the body is read where the path
 * says enough, so that a stranger learns nothing from it. The handler gets `grant`.
 */
export const guard = (ctx: Context) => {
  const decide = (input: Unchecked, rule: Rule): Grant => {
    const caller = callerOf(ctx, input.request)
    const action = typeof rule.action === 'function' ? rule.action(input) : rule.action
    const isRead = input.request.method === 'GET' || input.request.method === 'HEAD'
    const grant = authorize(ctx, caller, action, (rule.on ?? rule.onBody)?.(input), isRead)
    rule.mustFind?.(input, grant)
    return grant
  }
  const refuseEarly = (input: Unchecked, rule: Rule): void => {
    const caller = callerOf(ctx, input.request)
    if (rule.onBody === undefined) decide(input, rule)
    else if (caller.actor.kind === 'anonymous')
      throw denialError('unauthenticated', 'Sign in or send an API key')
    else if (caller.actor.kind === 'user' && caller.site !== null) decide({ ...input, body: undefined }, rule)
  }
  return new Elysia({ name: 'auth/guard' }).macro({
    may: (rule: Rule) => ({
      parse: (input) => {
        refuseEarly(input as Unchecked, rule)
        return readJson(input)
      },
      transform: (input) => void grants.set(input.request, decide(input as Unchecked, rule)),
      resolve: ({ request }) => ({ grant: grantOf(request) }),
    }),
  })
}

const grants = new WeakMap<Request, Grant>()

function grantOf(request: Request): Grant {
  const grant = grants.get(request)
  if (grant === undefined) throw new Error('The route has no guard')
  return grant
}
