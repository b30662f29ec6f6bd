import type { Actor } from '../../src/domain/actor.ts'
import { setCookie } from '../../src/domain/cookies.ts'
import { isUuid } from '../../src/domain/uuid.ts'
import { factsOf } from '../../src/http/request-facts.ts'
import { undoableChangeOf } from '../../src/modules/undo/service.ts'

/** Carries the entry of what a form changed to the next page, which offers to undo it. */
const NAME = 'svc_changed'
const MAX_AGE_SECONDS = 60

const cookie = (request: Request, value: string, maxAgeSeconds: number): string =>
  setCookie(NAME, value, { domain: null, maxAgeSeconds, isSecure: factsOf(request).isSecure })

/** The answer to a form, with the change that its sender made, if that can be undone. */
export function carryingChange(request: Request, answer: Response, actor: Actor): Response {
  const change = undoableChangeOf(actor)
  if (change !== undefined && answer.status === 303)
    answer.headers.append('set-cookie', cookie(request, change, MAX_AGE_SECONDS))
  return answer
}

export function carriedChange(request: Request): string | undefined {
  const [, id] = /(?:^|;\s*)svc_changed=([0-9a-f-]{36})/.exec(request.headers.get('cookie') ?? '') ?? []
  return id !== undefined && isUuid(id) ? id : undefined
}

export const forgetChange = (request: Request): string => cookie(request, '', 0)
