import { and, asc, eq, gt, isNull, lt, sql } from 'drizzle-orm'
import type { Db, DbOrTx } from '../../../db/open.ts'
import { deviceLogins } from '../../../db/schema.ts'
import { prepared } from '../../../db/statements.ts'

export type DeviceLogin = typeof deviceLogins.$inferSelect

export function insertDevice(db: DbOrTx, row: DeviceLogin): void {
  db.insert(deviceLogins).values(row).run()
}

export const findByDeviceHash = (db: DbOrTx, deviceHash: string): DeviceLogin | undefined =>
  db.select().from(deviceLogins).where(eq(deviceLogins.deviceHash, deviceHash)).get()

export const findByUserHash = (db: DbOrTx, userHash: string): DeviceLogin | undefined =>
  db.select().from(deviceLogins).where(eq(deviceLogins.userHash, userHash)).get()

type Change = Partial<Pick<DeviceLogin, 'askedAt' | 'intervalSeconds' | 'isApproved' | 'approvedBy'>>

export function updateDevice(db: DbOrTx, deviceHash: string, change: Change): void {
  db.update(deviceLogins).set(change).where(eq(deviceLogins.deviceHash, deviceHash)).run()
}

export function deleteDevice(db: DbOrTx, deviceHash: string): void {
  db.delete(deviceLogins).where(eq(deviceLogins.deviceHash, deviceHash)).run()
}

/** Those that somebody approved and no device has fetched. */
export function deleteDevicesOf(db: DbOrTx, userId: string): void {
  db.delete(deviceLogins).where(eq(deviceLogins.approvedBy, userId)).run()
}

/** Those that have not expired: of one network, or of all. */
export function countDevices(db: DbOrTx, now: number, network?: string): number {
  const open = gt(deviceLogins.expiresAt, now)
  const condition = network === undefined ? open : and(eq(deviceLogins.network, network), open)
  const [row] = db.select({ count: sql<number>`count(*)` }).from(deviceLogins).where(condition).all()
  return row?.count ?? 0
}

/** The oldest that nobody has decided. */
export function deleteOldestDevice(db: DbOrTx): void {
  const oldest = db
    .select({ deviceHash: deviceLogins.deviceHash })
    .from(deviceLogins)
    .where(isNull(deviceLogins.isApproved))
    .orderBy(asc(deviceLogins.expiresAt))
    .limit(1)
  db.delete(deviceLogins).where(sql`${deviceLogins.deviceHash} IN ${oldest}`).run()
}

export function deleteDevicesBefore(db: DbOrTx, expiredBefore: number): void {
  db.delete(deviceLogins).where(lt(deviceLogins.expiresAt, expiredBefore)).run()
}

/** Deletes up to `limit` sessions of the command line that nobody has used since. Returns how many. */
export const deleteUnusedCliSessions = (db: Db, usedBefore: number, limit: number): number =>
  prepared<{ id: string }>(
    db,
    `DELETE FROM sessions WHERE id IN
       (SELECT s.id FROM cli_sessions c JOIN sessions s ON s.id = c.session_id WHERE s.last_seen_at < ? LIMIT ?)
     RETURNING id`,
  ).all(usedBefore, limit).length
