import { Elysia } from 'elysia'
import type { Context } from '../../context.ts'
import { undoableChangeOf } from '../../db/audit.ts'
import type { Action } from '../../domain/access.ts'
import { requireObjects } from '../../http/body-shapes.ts'
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

/** The parts of the request that `on` and `onBody` of a rule read. */
export type PathInput = Pick<Unchecked, 'params' | 'query'>
export type BodyInput = Pick<Unchecked, 'params' | 'query' | 'body'>

type Rule = {
  action: Action | ((input: Unchecked) => Action)
  /** The project that the path names. */
  on?: (input: Unchecked) => About
  /** The project that the body names: checked once the body is read. */
  onBody?: (input: Unchecked) => About
  /** Throws 404 when the path names something of the workspace that does not exist. Runs only for allowed callers. */
  mustFind?: (input: Unchecked, grant: Grant) => unknown
  /** Unless given, that of `readJson`. */
  maxBodyBytes?: number
}

/**
 * `may` on a route: who may call it. It is checked before the input is validated, and before the body is read if the
 * path says enough, so that a stranger learns nothing from the response. The handler gets `grant`.
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
        return readJson(ctx, input.request, rule.maxBodyBytes)
      },
      transform: ({ request, params, query, body, route }) => {
        grants.set(request, decide({ request, params, query, body } as Unchecked, rule))
        requireObjects(ctx, { request, route, body })
      },
      resolve: ({ request }) => ({ grant: grantOf(request) }),
      afterHandle({ request, set }) {
        const change = undoableChangeOf(grantOf(request).actor)
        if (change !== undefined) set.headers[CHANGE_HEADER] = change
      },
    }),
  })
}

/** The audit entry of a change that can be undone. contract 17.9. */
const CHANGE_HEADER = 'x-svc-change'

const grants = new WeakMap<Request, Grant>()

function grantOf(request: Request): Grant {
  const grant = grants.get(request)
  if (grant === undefined) throw new Error('The route has no guard')
  return grant
}
