import type { Context } from '../context.ts'
import { resetSecondStep } from '../modules/account/second-step.ts'
import { createOperatorKey } from '../modules/api-keys/service.ts'
import { setPassword } from '../modules/auth/set-password.ts'
import { createAccount } from '../modules/users/service.ts'
import { suspendByEmail, unsuspendByEmail } from '../modules/users/suspension.ts'

const OPERATOR = { kind: 'operator' } as const

type Operation = (ctx: Context, input: Readonly<Record<string, string>>) => unknown

/**
 * What commands do to a workspace, on the data directory or, with an object store, in the server that ships it. Each returns
 * the text to print, if any; throws `AppError`.
 */
export const OPERATIONS = {
  'key create': (ctx, { name = '', repository = null }) => createOperatorKey(ctx, { name, repository }),
  'admin create': (ctx, { email = '', password = '' }) =>
    createAccount(ctx, { email, password, role: 'admin' }, OPERATOR),
  'admin reset-password': (ctx, { email = '', password = '' }) => setPassword(ctx, email, password, OPERATOR),
  'admin reset-mfa': (ctx, { email = '' }) => resetSecondStep(ctx, { email }, OPERATOR),
  'admin suspend': (ctx, { email = '' }) => suspendByEmail(ctx, email),
  'admin unsuspend': (ctx, { email = '' }) => unsuspendByEmail(ctx, email),
} as const satisfies Record<string, Operation>

export type OperationName = keyof typeof OPERATIONS
export type OperationInput = Readonly<Record<string, string>>

/** The text to print; '' if there is none. */
export async function operate(ctx: Context, name: OperationName, input: OperationInput): Promise<string> {
  const done: unknown = await OPERATIONS[name](ctx, input)
  return typeof done === 'string' ? done : ''
}

export const isOperation = (name: string): name is OperationName => Object.hasOwn(OPERATIONS, name)
