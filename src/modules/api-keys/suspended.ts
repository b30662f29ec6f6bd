import type { Context } from '../../context.ts'
import { AppError } from '../../domain/errors.ts'
import type { ApiKey } from './queries.ts'

export const API_KEY_SUSPENDED = 'API_KEY_SUSPENDED'

/** Why a key is suspended, as a part of a sentence. */
export const SUSPENSION_WORDS = {
  maker_demoted: 'the person who made it is no longer an administrator',
  maker_suspended: 'the person who made it is suspended',
  maker_deleted: 'the account that made it was deleted',
} as const satisfies Record<NonNullable<ApiKey['suspendedReason']>, string>

export const isExpired = ({ now }: Pick<Context, 'now'>, { expiresAt }: Pick<ApiKey, 'expiresAt'>): boolean =>
  expiresAt !== null && expiresAt <= now()

/** The 401 for a key that is not good; undefined: unknown. Taking over an expired key would not help. contract 12.8. */
export function refusalOfKey(ctx: Context, key: ApiKey | undefined): AppError {
  if (key === undefined || isExpired(ctx, key) || key.suspendedReason === null)
    return new AppError(
      'unauthenticated',
      'The API key is unknown, revoked or expired: make another one on the page API keys, or on the server with svc key create',
    )
  const why = SUSPENSION_WORDS[key.suspendedReason]
  return new AppError(
    'unauthenticated',
    `The API key ${key.prefix}… is suspended, because ${why}. An administrator can take it over on the page API keys; or use another key.`,
    { code: API_KEY_SUSPENDED },
  )
}
