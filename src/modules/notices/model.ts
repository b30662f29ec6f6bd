import { type Static, t } from 'elysia'
import { emailField } from '../auth/model.ts'

/** Whether an invitation was mailed. */
export const invitationMail = t.Union([
  t.Literal('queued'),
  t.Literal('not_configured'),
  t.Literal('limited'),
])

const noticeId = t.Union([
  t.Literal('newDevice'),
  t.Literal('backupFailed'),
  t.Literal('certificateFailing'),
  t.Literal('diskLow'),
  t.Literal('webhookFailing'),
])

/** contract 16 §5: those that can reach the person. */
export const noticesView = t.Object({
  mailConfigured: t.Boolean(),
  notices: t.Array(t.Object({ id: noticeId, isOn: t.Boolean() })),
})
export type NoticesView = Static<typeof noticesView>

export const noticesBody = t.Record(t.String(), t.Boolean({ error: 'true or false' }), {
  examples: [{ newDevice: false }],
})

export const testMailBody = t.Optional(t.Object({ to: t.Optional(emailField) }))

export const testMailView = t.Object({ accepted: t.Literal(true), to: t.String() })
