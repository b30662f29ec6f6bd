import type { Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import { type DbOrTx, inTransaction } from '../../db/open.ts'
import { AppError } from '../../domain/errors.ts'
import type { GlobalRole } from '../../domain/roles.ts'
import { type Grant, personOf } from '../auth/authorize.ts'
import type { ApiKeyView, KeysFate } from './model.ts'
import { type ApiKey, findKey, listKeysOfMaker, listSuspendedKeys, updateHolding } from './queries.ts'
import { subject, toView } from './view.ts'

/** Whose keys are which, when people come and go. contract 12.8. */

type Reason = NonNullable<ApiKey['suspendedReason']>

/** Every suspended key, the one used last first. */
export const suspendedKeys = (ctx: Context, _grant: Grant): ApiKeyView[] =>
  listSuspendedKeys(ctx.db.orm).map(toView)

/** The keys that somebody made or took over. */
export const keysOfMaker = (ctx: Context, _grant: Grant, makerId: string): ApiKeyView[] =>
  listKeysOfMaker(ctx.db.orm, makerId).map(toView)

/** A suspended key is good again, as the caller's. Throws 409 for one that is not suspended: of two, one gets it. */
export function takeOverKey(ctx: Context, grant: Grant, id: string): ApiKeyView {
  return inTransaction(ctx.db, (tx) => {
    const key = findKey(tx, id)
    if (key === undefined) throw new AppError('not_found', 'There is no such API key')
    if (key.suspendedAt === null)
      throw new AppError('conflict', `The API key ${key.name} is not suspended: nobody has to take it over`)
    return handOver(ctx, tx, grant, key)
  })
}

/** Why the keys of an account are not good; null when they are. */
export const reasonAgainst = ({
  role,
  suspendedAt,
}: {
  role: GlobalRole
  suspendedAt: number | null
}): Reason | null => (suspendedAt !== null ? 'maker_suspended' : role === 'admin' ? null : 'maker_demoted')

/**
 * Decides about the keys of somebody whose right to make keys changes, in the transaction in which that happens; without a
 * reason they are good again. Throws 400 for `take-over` when the caller is that person.
 */
export function settleKeys(
  ctx: Context,
  tx: DbOrTx,
  grant: Grant,
  { makerId, reason, fate }: { makerId: string; reason: Reason | null; fate: KeysFate },
): void {
  if (fate === 'take-over' && personOf(grant).user.id === makerId) throw notFromYourself()
  for (const key of listKeysOfMaker(tx, makerId))
    if (fate === 'take-over') handOver(ctx, tx, grant, key)
    else if (key.suspendedReason !== reason) setReason(ctx, tx, grant, key, reason)
}

const setReason = (ctx: Context, tx: DbOrTx, grant: Grant, key: ApiKey, reason: Reason | null) =>
  change(ctx, tx, grant, reason === null ? 'api-key.unsuspend' : 'api-key.suspend', key, {
    suspendedAt: reason === null ? null : (key.suspendedAt ?? ctx.now()),
    suspendedReason: reason,
  })

const handOver = (ctx: Context, tx: DbOrTx, grant: Grant, key: ApiKey) =>
  change(ctx, tx, grant, 'api-key.take-over', key, {
    createdBy: personOf(grant).user.id,
    suspendedAt: null,
    suspendedReason: null,
  })

function change(
  ctx: Context,
  tx: DbOrTx,
  grant: Grant,
  action: string,
  key: ApiKey,
  holding: Parameters<typeof updateHolding>[2],
): ApiKeyView {
  updateHolding(tx, key.id, holding)
  const [before, after] = [toView(key), toView({ ...key, ...holding })]
  audit(ctx, tx, grant.actor, { action, ...subject(key), before, after })
  return after
}

function notFromYourself(): AppError {
  const message = 'You cannot take over your own keys while you give up your role: suspend is the only choice'
  return new AppError('invalid', message, { details: [{ path: 'keys', message }] })
}
