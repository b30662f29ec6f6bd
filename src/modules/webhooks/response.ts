import type { Context } from '../../context.ts'
import type { HookRow } from './queries.ts'
import { openHeaders, openHookSecret } from './sealed.ts'

const MAX_RESPONSE = 1000
/** Shorter ones are no secrets, and would be found in the middle of words. */
const MIN_SECRET = 8

/**
 * The first characters of an answer, as people see them: receivers echo what they get, and the values of own headers
 * and the secret are not shown. Stars of the same length stand for them, so that what is cut stays cut.
 */
export function shownResponse(ctx: Context, hook: HookRow, text: string): string {
  let masked = text
  for (const secret of secretsOf(ctx, hook)) masked = masked.replaceAll(secret, '*'.repeat(secret.length))
  return [...masked].slice(0, MAX_RESPONSE).join('')
}

/** Longest first: one may hold another. `Bearer TOKEN` is also echoed as `TOKEN`. */
function secretsOf(ctx: Context, hook: HookRow): string[] {
  const values = openHeaders(ctx.secrets, hook).flatMap(([, value]) => [value, ...value.split(/\s+/)])
  return [openHookSecret(ctx.secrets, hook), ...values]
    .filter(({ length }) => length >= MIN_SECRET)
    .sort((a, b) => b.length - a.length)
}
