import { type Static, t } from 'elysia'
import { EMAIL_PATTERN, MAX_EMAIL } from '../../domain/email.ts'
import { MAX_PASSWORD, MIN_PASSWORD, PASSWORD_RULE } from '../../domain/password-rule.ts'

/** Reject bad input with one sentence each. The service checks whether the credentials are right. contract §3. */
export const emailField = t.String({
  maxLength: MAX_EMAIL,
  pattern: `^\\s*${EMAIL_PATTERN}\\s*$`,
  error: 'An email address, such as ann@example.com',
  examples: ['ann@example.com'],
})

export const passwordField = t.String({
  minLength: MIN_PASSWORD,
  maxLength: MAX_PASSWORD,
  error: PASSWORD_RULE,
  examples: ['correct horse battery'],
})

export const credentialsBody = { email: emailField, password: passwordField }

export const globalRole = t.Union([t.Literal('admin'), t.Literal('user'), t.Literal('member')])

export const userView = t.Object({ id: t.String({ format: 'uuid' }), email: t.String(), role: globalRole })

export const signInBody = t.Object({
  email: emailField,
  // Any length: a wrong password is wrong, not malformed.
  password: t.String({ maxLength: 1024, error: 'At most 1024 characters' }),
  code: t.Optional(t.String({ maxLength: 64 })),
})

export const signUpBody = t.Object({
  ...credentialsBody,
  code: t.Optional(t.String({ maxLength: 64 })),
  invitationToken: t.Optional(t.String({ maxLength: 256 })),
})

export const forgotBody = t.Object({ email: emailField })

export const resetBody = t.Object({ token: t.String({ maxLength: 256 }), password: passwordField })

export const loginMethodsView = t.Object({
  password: t.Literal(true),
  providers: t.Array(t.Object({ id: t.String(), displayName: t.String() })),
  allowSignup: t.Boolean(),
})
export type LoginMethods = Static<typeof loginMethodsView>

export const successView = t.Object({ success: t.Literal(true) })
