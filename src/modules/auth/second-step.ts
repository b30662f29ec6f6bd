import type { Context } from '../../context.ts'
import type { DbOrTx } from '../../db/open.ts'
import { AppError } from '../../domain/errors.ts'
import { hashRecoveryCode } from '../../platform/recovery-codes.ts'
import { asTotpCode, matchingStep } from '../../platform/totp.ts'
import { claimTotpStep, type User } from '../users/accounts.ts'
import { deleteRecoveryCode, hasRecoveryCode } from './second-step/queries.ts'

export { countRecoveryCodes, replaceRecoveryCodes } from './second-step/queries.ts'

/** The result of checking the code sent with a sign-in: `none` if the account has no second step. */
export type SecondFactor =
  | { kind: 'none' | 'missing' | 'wrong' }
  | { kind: 'totp'; step: number }
  | { kind: 'recovery'; codeHash: string }

/** Checks a code without using it up: `useSecondFactor` does that, in the transaction that opens the session. */
export async function judgeCode(ctx: Context, user: User, code: string | undefined): Promise<SecondFactor> {
  if (user.totpSecret === null) return { kind: 'none' }
  if (code === undefined || code.trim() === '') return { kind: 'missing' }
  const digits = asTotpCode(code)
  if (digits === null) {
    const codeHash = hashRecoveryCode(code)
    return hasRecoveryCode(ctx.db.orm, user.id, codeHash) ? { kind: 'recovery', codeHash } : { kind: 'wrong' }
  }
  const secret = ctx.secrets.open(user.totpSecret, totpSealContext(user.id))
  const step = await matchingStep(secret, digits, ctx.now())
  return step === null || step <= user.totpLastStep ? { kind: 'wrong' } : { kind: 'totp', step }
}

/** Uses up the code. False when somebody else used it in the meantime: each code can be used once. */
export function useSecondFactor(tx: DbOrTx, userId: string, factor: SecondFactor): boolean {
  if (factor.kind === 'totp') return claimTotpStep(tx, userId, factor.step)
  if (factor.kind === 'recovery') return deleteRecoveryCode(tx, userId, factor.codeHash)
  return factor.kind === 'none'
}

/** Sealed secrets are bound to their account, so that a row cannot be copied to another. */
export const totpSealContext = (userId: string): string => `totp ${userId}`

const MFA_REQUIRED = 'This account has a second step: enter the code of your authenticator app'

export const mfaRequired = () => new AppError('unauthenticated', MFA_REQUIRED, { code: 'MFA_REQUIRED' })

export const mfaCodeInvalid = (kind: 'unauthenticated' | 'invalid' = 'unauthenticated') =>
  new AppError(kind, 'The code is wrong or has been used. Enter the one that the app shows now.', {
    code: 'MFA_CODE_INVALID',
  })
