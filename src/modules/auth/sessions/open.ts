import type { Context } from '../../../context.ts'
import type { DbOrTx } from '../../../db/open.ts'
import { getUserRow, refuseSuspendedAccount } from '../../users/accounts.ts'
import { insertSession } from './queries.ts'

/** `onlyOn`: the one host where it is valid; without it, wherever its credential reaches. `openedFrom`: the session that it ends with. */
export type OpenedBy = { ip: string; userAgent: string; onlyOn?: string; openedFrom?: string }

/**
 * The one function that opens a session, whatever proved who it is for, in the caller's transaction. Returns its id. Throws 403
 * `ACCOUNT_SUSPENDED`: no proof lets in somebody who is suspended. contract 17.6.
 */
export function addSession(ctx: Context, tx: DbOrTx, userId: string, from: OpenedBy): string {
  refuseSuspendedAccount(getUserRow(tx, { userId }))
  const id = ctx.newId()
  const now = ctx.now()
  insertSession(tx, {
    id,
    userId,
    ip: from.ip,
    userAgent: from.userAgent.slice(0, 300),
    host: from.onlyOn ?? null,
    createdAt: now,
    lastSeenAt: now,
    openedFrom: from.openedFrom ?? null,
  })
  return id
}
