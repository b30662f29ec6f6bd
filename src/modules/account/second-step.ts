import type { Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import { type DbOrTx, inTransaction } from '../../db/open.ts'
import { inTidyingTransaction } from '../../db/tidying.ts'
import type { Actor } from '../../domain/actor.ts'
import { HOUR_MS } from '../../domain/durations.ts'
import { AppError } from '../../domain/errors.ts'
import { isRecent } from '../../domain/recent.ts'
import { qrSvg } from '../../platform/qr.ts'
import { hashRecoveryCode, newRecoveryCodes } from '../../platform/recovery-codes.ts'
import { asTotpCode, matchingStep, newTotpSecret, otpauthUrl } from '../../platform/totp.ts'
import { authorizeAgain, type Grant, personOf } from '../auth/authorize.ts'
import { confirmPassword, refuseLocked, wrongPassword } from '../auth/check-password.ts'
import {
  countRecoveryCodes,
  judgeCode,
  mfaCodeInvalid,
  replaceRecoveryCodes,
  totpSealContext,
  useSecondFactor,
} from '../auth/second-step.ts'
import { endSessionsOf } from '../auth/sessions.ts'
import { findUser, getUserRow, turnOnTotp, type UserRef, updateUser } from '../users/accounts.ts'
import type { Enrollment } from './model.ts'
import { deleteEnrollment, findEnrollment, upsertEnrollment } from './queries.ts'

/** Whether the second step is on, and how many recovery codes are left. */
export const secondStepOf = (ctx: Context, userId: string): { totp: boolean; recoveryCodesLeft: number } => ({
  totp: (findUser(ctx.db.orm, userId)?.totpSecret ?? null) !== null,
  recoveryCodesLeft: countRecoveryCodes(ctx.db.orm, userId),
})

/**
 * Makes a secret for an authenticator app. It takes effect only when one of its codes is entered within the hour;
 * asking again makes a new secret. Throws 409 when the second step is on: whoever holds the session must not replace it
 * without the password.
 */
export function startEnrollment(ctx: Context, grant: Grant): Enrollment {
  const { user } = personOf(grant)
  const secret = newTotpSecret()
  inTransaction(ctx.db, (tx) => {
    if (findUser(tx, user.id)?.totpSecret != null)
      throw new AppError('conflict', 'Two-step sign-in is on. Turn it off first to set it up again.')
    const sealed = ctx.secrets.seal(secret, totpSealContext(user.id))
    upsertEnrollment(tx, { userId: user.id, secret: sealed, createdAt: ctx.now() })
  })
  return showEnrollment(ctx, user.email, secret)
}

/** The enrolment that waits for its code, to show it again after a wrong code; undefined if there is none. */
export function pendingEnrollment(ctx: Context, grant: Grant): Enrollment | undefined {
  const { user } = personOf(grant)
  const secret = pendingSecret(ctx, user.id)?.secret
  return secret === undefined ? undefined : showEnrollment(ctx, user.email, secret)
}

function showEnrollment(ctx: Context, email: string, secret: string): Enrollment {
  const url = otpauthUrl(`svc ${new URL(ctx.adminUrl()).hostname}`, email, secret)
  return { secret, otpauthUrl: url, qrSvg: qrSvg(url) }
}

function pendingSecret(ctx: Context, userId: string): { secret: string; sealed: string } | undefined {
  const found = findEnrollment(ctx.db.orm, userId)
  if (found === undefined || !isRecent(found.createdAt, ctx.now(), HOUR_MS)) return undefined
  return { secret: ctx.secrets.open(found.secret, totpSealContext(userId)), sealed: found.secret }
}

/**
 * Turns the second step on with a code of the app, which is used up. Returns the recovery codes; only their hashes are
 * stored. Other sessions stay: the same page lists them. Throws 400 `MFA_CODE_INVALID`.
 */
export async function confirmEnrollment(ctx: Context, grant: Grant, code: string): Promise<string[]> {
  const actor = personOf(grant)
  refuseLocked(ctx, actor.user.email, actor.ip)
  const pending = pendingSecret(ctx, actor.user.id)
  const digits = asTotpCode(code)
  const step =
    pending === undefined || digits === null ? null : await matchingStep(pending.secret, digits, ctx.now())
  refuseLocked(ctx, actor.user.email, actor.ip)
  if (pending === undefined || step === null) {
    ctx.lockout.fail(actor.user.email, actor.ip)
    throw mfaCodeInvalid('invalid')
  }
  const codes = newRecoveryCodes()
  inTransaction(ctx.db, (tx) => {
    authorizeAgain(ctx, grant, 'account:use')
    // Another tab may have started again or finished already.
    if (findEnrollment(tx, actor.user.id)?.secret !== pending.sealed) throw mfaCodeInvalid('invalid')
    turnOnTotp(tx, actor.user.id, pending.sealed, step, ctx.now())
    deleteEnrollment(tx, actor.user.id)
    replaceRecoveryCodes(tx, actor.user.id, codes.map(hashRecoveryCode))
    const target = { kind: 'user', id: actor.user.id, name: actor.user.email }
    audit(ctx, tx, actor, { action: 'user.mfa-on', target })
  })
  return codes
}

/** Turns the second step off and deletes its data. Throws 400 `WRONG_CREDENTIALS_ERROR`, 404 when it is off. */
export async function turnOffSecondStep(ctx: Context, grant: Grant, password: string): Promise<void> {
  const actor = personOf(grant)
  const hash = await confirmPassword(ctx, actor, password)
  inTidyingTransaction(ctx.db, (tx) => {
    const currentUser = findUser(tx, actor.user.id)
    if (currentUser?.passwordHash !== hash) throw wrongPassword('The password was changed meanwhile')
    authorizeAgain(ctx, grant, 'account:use')
    if (currentUser.totpSecret === null) throw new AppError('not_found', 'Two-step sign-in is already off')
    removeSecondStep(ctx, tx, currentUser, actor)
  })
}

/**
 * New recovery codes in place of the old ones, for somebody who knows the password; a code is used up where one is sent. Only their
 * hashes are stored. Throws 409 `MFA_NOT_ON`, 400 `WRONG_CREDENTIALS_ERROR` or `MFA_CODE_INVALID`. contract 17.6.
 */
export async function renewRecoveryCodes(
  ctx: Context,
  grant: Grant,
  { password, code }: { password: string; code?: string | undefined },
): Promise<string[]> {
  const actor = personOf(grant)
  if (findUser(ctx.db.orm, actor.user.id)?.totpSecret == null) throw mfaNotOn()
  const hash = await confirmPassword(ctx, actor, password)
  const before = findUser(ctx.db.orm, actor.user.id)
  const isCodeSent = code !== undefined && code.trim() !== ''
  const factor = isCodeSent && before !== undefined ? await judgeCode(ctx, before, code) : null
  const codes = newRecoveryCodes()
  const isDone = inTransaction(ctx.db, (tx) => {
    const currentUser = findUser(tx, actor.user.id)
    if (currentUser?.passwordHash !== hash) throw wrongPassword('The password was changed meanwhile')
    authorizeAgain(ctx, grant, 'account:use')
    if (currentUser.totpSecret === null) throw mfaNotOn()
    if (factor !== null && !useSecondFactor(tx, actor.user.id, factor)) return false
    replaceRecoveryCodes(tx, actor.user.id, codes.map(hashRecoveryCode))
    const target = { kind: 'user', id: actor.user.id, name: actor.user.email }
    audit(ctx, tx, actor, { action: 'user.recovery-codes', target })
    return true
  })
  if (isDone) return codes
  ctx.lockout.fail(actor.user.email, actor.ip)
  throw mfaCodeInvalid('invalid')
}

const mfaNotOn = () =>
  new AppError('conflict', 'Two-step sign-in is off: there are no recovery codes', { code: 'MFA_NOT_ON' })

/**
 * Turns off the second step of somebody who lost it, without their password, and ends their sessions. Throws 404 for somebody
 * unknown, 409 `NO_SECOND_STEP`.
 */
export function resetSecondStep(ctx: Context, who: UserRef, actor: Actor): void {
  inTidyingTransaction(ctx.db, (tx) => {
    const user = getUserRow(tx, who)
    if (user.totpSecret === null)
      throw new AppError('conflict', `${user.email} has no second step`, { code: 'NO_SECOND_STEP' })
    removeSecondStep(ctx, tx, user, actor, 'user.reset-second-step')
    endSessionsOf(tx, user.id)
  })
}

function removeSecondStep(
  ctx: Context,
  tx: DbOrTx,
  { id, email }: { id: string; email: string },
  actor: Actor,
  action = 'user.mfa-off',
): void {
  updateUser(tx, id, { totpSecret: null, updatedAt: ctx.now() })
  deleteEnrollment(tx, id)
  replaceRecoveryCodes(tx, id, [])
  audit(ctx, tx, actor, { action, target: { kind: 'user', id, name: email } })
}
