import type { Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import { type DbOrTx, inTransaction } from '../../db/open.ts'
import { inRelaxedTransaction } from '../../db/relaxed.ts'
import { inTidyingTransaction } from '../../db/tidying.ts'
import type { UserActor } from '../../domain/actor.ts'
import { HOUR_MS } from '../../domain/durations.ts'
import type { ErrorCode } from '../../domain/error-codes.ts'
import { AppError } from '../../domain/errors.ts'
import { networkOf } from '../../domain/ip-ranges.ts'
import { isoTime } from '../../domain/iso-time.ts'
import { isRecent } from '../../domain/recent.ts'
import { GO_ON, inSteps, type Stop } from '../../platform/in-steps.ts'
import { hashToken, newToken } from '../../platform/tokens.ts'
import { findUser, publicUser } from '../users/accounts.ts'
import { type Grant, personOf } from './authorize.ts'
import type { Origin } from './caller.ts'
import {
  countDevices,
  type DeviceLogin,
  deleteDevice,
  deleteDevicesBefore,
  deleteOldestDevice,
  deleteUnusedCliSessions,
  findByDeviceHash,
  findByUserHash,
  insertDevice,
  updateDevice,
} from './device/queries.ts'
import { newUserCode, shownCode, typedCode } from './device/user-code.ts'
import { actorOf } from './enter.ts'
import { meetCommandLine } from './known-devices.ts'
import { CLI_UNUSED_MS, openCliSession } from './sessions/cli.ts'

export { shownCode, typedCode } from './device/user-code.ts'

/** Signing the command line in with another device: RFC 8628, contract 16 §7. */

const LIFE_SECONDS = 600
const FIRST_INTERVAL = 5
const SLOWER_BY = 5
/** What strangers can fill: of one network, and of all, where the oldest goes. */
const MAX_OF_NETWORK = 100
const MAX_OF_ALL = 10_000
/** So long an expired code is told from an unknown one. */
const REMEMBERED_MS = HOUR_MS
const REMOVED_AT_ONCE = 500

/** The answer to a device that asks, in the names of RFC 8628 §3.2. */
export type DeviceCodes = {
  device_code: string
  user_code: string
  verification_uri: string
  verification_uri_complete: string
  expires_in: number
  interval: number
}

/** Who asks to be let in, for the person who decides. */
export type AskingDevice = { clientName: string; ip: string; createdAt: string; expiresAt: string }

/** Throws 429 when the network has too many that wait. */
export function askForLogin(ctx: Context, clientName: string, { facts: { ip } }: Origin): DeviceCodes {
  const [deviceCode, userCode] = [newToken(), newUserCode()]
  const network = networkOf(ip)
  inTransaction(ctx.db, (tx) => {
    if (countDevices(tx, ctx.now(), network) >= MAX_OF_NETWORK) throw tooMany(LIFE_SECONDS)
    if (countDevices(tx, ctx.now()) >= MAX_OF_ALL) deleteOldestDevice(tx)
    insertDevice(tx, {
      deviceHash: hashToken(deviceCode),
      userHash: hashToken(userCode),
      clientName,
      ip,
      network,
      createdAt: ctx.now(),
      expiresAt: ctx.now() + LIFE_SECONDS * 1000,
      intervalSeconds: FIRST_INTERVAL,
      askedAt: null,
      isApproved: null,
      approvedBy: null,
    })
  })
  const page = `${ctx.adminUrl()}/device`
  return {
    device_code: deviceCode,
    user_code: shownCode(userCode),
    verification_uri: page,
    verification_uri_complete: `${page}?code=${shownCode(userCode)}`,
    expires_in: LIFE_SECONDS,
    interval: FIRST_INTERVAL,
  }
}

/** Throws 404 for a code that is unknown, used or expired, and 429 for somebody who guesses. */
export function getAskingDevice(ctx: Context, grant: Grant, userCode: string): AskingDevice {
  const { clientName, ip, createdAt, expiresAt } = requireOpen(ctx, ctx.db.orm, personOf(grant), userCode)
  return { clientName, ip, createdAt: isoTime(createdAt), expiresAt: isoTime(expiresAt) }
}

/** The person's word, once. Throws as `getAskingDevice`. */
export function decideDevice(
  ctx: Context,
  grant: Grant,
  { userCode, approve }: { userCode: string; approve: boolean },
): void {
  const person = personOf(grant)
  inTidyingTransaction(ctx.db, (tx) => {
    const { deviceHash, clientName, ip } = requireOpen(ctx, tx, person, userCode)
    updateDevice(tx, deviceHash, { isApproved: approve, approvedBy: approve ? person.user.id : null })
    audit(ctx, tx, person, {
      action: approve ? 'device.approve' : 'device.deny',
      target: { kind: 'device', id: null, name: clientName },
      after: { ip },
    })
  })
}

function requireOpen(ctx: Context, db: DbOrTx, { user }: UserActor, userCode: string): DeviceLogin {
  // Counted for the person, wherever they are: whoever guesses has signed in.
  const guesser = `device codes of ${user.id}`
  const seconds = ctx.lockout.lockedForSeconds(guesser, ANYWHERE)
  if (seconds > 0) throw tooMany(seconds)
  const found = findByUserHash(db, hashToken(typedCode(userCode)))
  if (found !== undefined && found.isApproved === null && isOpen(ctx, found)) return found
  ctx.lockout.fail(guesser, ANYWHERE)
  throw new AppError('not_found', 'This code is unknown, was used or has expired. Run svc login again.')
}

const ANYWHERE = '::'

const isOpen = (ctx: Context, { createdAt }: DeviceLogin): boolean =>
  isRecent(createdAt, ctx.now(), LIFE_SECONDS * 1000)

const tooMany = (seconds: number): AppError =>
  new AppError('rate_limited', `Too many codes. Try again in ${seconds} s.`, {
    headers: { 'retry-after': String(seconds) },
  })

export type DeviceToken = { access_token: string; token_type: 'Bearer'; user: ReturnType<typeof publicUser> }

/** The token, once. Else throws 400 with an `error` of RFC 8628 §3.5. */
export function redeemDevice(ctx: Context, deviceCode: string, origin: Origin): DeviceToken {
  const found = findByDeviceHash(ctx.db.orm, hashToken(deviceCode))
  if (found === undefined) throw unknownCode()
  if (!isOpen(ctx, found)) throw refusal('expired_token', 'The code has expired: ask for another')
  if (found.isApproved === null) throw keepWaiting(ctx, found)
  if (!found.isApproved) throw refusal('access_denied', 'The person refused')
  return inTidyingTransaction(ctx.db, (tx) => hand(ctx, tx, found.deviceHash, origin))
}

function hand(ctx: Context, tx: DbOrTx, deviceHash: string, origin: Origin): DeviceToken {
  const approved = findByDeviceHash(tx, deviceHash)
  const user = approved?.approvedBy ? findUser(tx, approved.approvedBy) : undefined
  if (approved === undefined || user === undefined) throw unknownCode()
  deleteDevice(tx, deviceHash)
  const { facts, userAgent } = origin
  const name = approved.clientName
  meetCommandLine(ctx, tx, user, origin, name)
  const { id, token } = openCliSession(ctx, tx, user.id, { ip: facts.ip, userAgent, name })
  const target = { kind: 'session', id, name }
  audit(ctx, tx, actorOf(user, id, origin), { action: 'session.open', target, after: { kind: 'cli', name } })
  return { access_token: token, token_type: 'Bearer', user: publicUser(user) }
}

/** Who asks again within the interval has to wait longer from then on. RFC 8628 §3.5. */
function keepWaiting(ctx: Context, { deviceHash, askedAt, intervalSeconds }: DeviceLogin): AppError {
  const isTooSoon = askedAt !== null && isRecent(askedAt, ctx.now(), intervalSeconds * 1000)
  const next = isTooSoon ? Math.min(intervalSeconds + SLOWER_BY, LIFE_SECONDS) : intervalSeconds
  inRelaxedTransaction(ctx.db, (tx) =>
    updateDevice(tx, deviceHash, { askedAt: ctx.now(), intervalSeconds: next }),
  )
  return isTooSoon
    ? refusal('slow_down', `Ask every ${next} s`)
    : refusal('authorization_pending', 'Nobody has decided yet')
}

export const refusal = (code: ErrorCode, message: string): AppError =>
  new AppError('invalid', message, { code })

const unknownCode = (): AppError => refusal('invalid_grant', 'The device code is unknown or was used')

/** Removes expired codes, and sessions of the command line that nobody uses. */
export function removeExpiredDevices(ctx: Context, stop: Stop = GO_ON): Promise<void> {
  return inSteps(stop, () =>
    inRelaxedTransaction(ctx.db, (tx) => {
      deleteDevicesBefore(tx, ctx.now() - REMEMBERED_MS)
      return deleteUnusedCliSessions(ctx.db, ctx.now() - CLI_UNUSED_MS, REMOVED_AT_ONCE) === REMOVED_AT_ONCE
    }),
  )
}
