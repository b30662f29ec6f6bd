import { type Static, t } from 'elysia'
import { EMAIL_RULE, MAX_EMAIL } from '../../domain/email.ts'
import { MAX_TYPED_PASSWORD, PASSWORD_RULE, TOO_LONG } from '../../domain/password-rule.ts'
import type { TextFormat } from '../../http/text-formats.ts'

/** Says which texts a field takes; `http/text-formats.ts` checks them. */
const format = (name: TextFormat) => ({ format: name })

/** Reject bad input with one sentence each. The service checks whether the credentials are right. contract 12.7. */
export const emailField = t.String({
  ...format('email-address'),
  error: EMAIL_RULE,
  examples: ['ann@example.com'],
})

/** The email of an account. One of before may be stored in a form that no new one may have. */
export const typedEmail = t.String({
  maxLength: MAX_EMAIL,
  error: EMAIL_RULE,
  examples: ['ann@example.com'],
})

export const passwordField = t.String({
  ...format('new-password'),
  error: PASSWORD_RULE,
  description: `${PASSWORD_RULE}, counted in NFC`,
  examples: ['correct horse battery'],
})

/** A password of before: a wrong one is wrong, not malformed. */
export const typedPassword = t.String({
  maxLength: MAX_TYPED_PASSWORD,
  error: TOO_LONG,
  examples: ['correct horse battery'],
})

export const credentialsBody = { email: emailField, password: passwordField }

export const globalRole = t.Union([t.Literal('admin'), t.Literal('user'), t.Literal('member')])

export const userView = t.Object({ id: t.String({ format: 'uuid' }), email: t.String(), role: globalRole })

export const signInBody = t.Object({
  email: typedEmail,
  password: typedPassword,
  code: t.Optional(t.String({ maxLength: 64 })),
})

export const signUpBody = t.Object({
  ...credentialsBody,
  code: t.Optional(t.String({ maxLength: 64 })),
  invitationToken: t.Optional(t.String({ maxLength: 256 })),
})

export const forgotBody = t.Object({ email: emailField })

export const resetBody = t.Object({ token: t.String({ maxLength: 256 }), password: passwordField })

/** What some dialogs read of a place where people sign in. */
const placeMethods = { hasPassword: t.Literal(true), hasGoogle: t.Literal(false), allowSignup: t.Boolean() }

/** contract 12.7. `project` is there behind the gate only; `allowSignup` is what holds of both places together. */
export const loginMethodsView = t.Object({
  password: t.Literal(true),
  providers: t.Array(t.Object({ id: t.String(), kind: t.Literal('oidc'), displayName: t.String() })),
  ...placeMethods,
  workspace: t.Object(placeMethods),
  project: t.Optional(t.Object({ allowSignup: t.Boolean() })),
})
export type LoginMethods = Static<typeof loginMethodsView>

export const successView = t.Object({ success: t.Literal(true) })
