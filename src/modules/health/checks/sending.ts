import { cdnState } from '../../cdn/service.ts'
import { mailState } from '../../notices/counts.ts'
import { hookState } from '../../webhooks/counts.ts'
import type { Check } from './check.ts'

/** `value`: how many deliveries wait. */
export const checkWebhooks: Check = (ctx) => {
  const { hooks, failing, waiting } = hookState(ctx)
  if (hooks === 0) return { status: 'off', message: 'No webhook is turned on', value: waiting }
  if (failing > 0)
    return {
      status: 'warn',
      message: `${failing} of ${hooks} fail: none of the last deliveries arrived`,
      value: waiting,
    }
  return { status: 'ok', message: `${hooks} turned on`, value: waiting }
}

/** `value`: how many mails wait. */
export const checkMail: Check = (ctx) => {
  const { waiting, refused, last } = mailState(ctx)
  if (!ctx.mail.isConfigured)
    return { status: 'off', message: 'No mail is sent: SMTP_URL is not set', value: waiting }
  if (last?.status === 'failed')
    return {
      status: 'error',
      message: `The last mail failed: ${last.error}`,
      at: last.endedAt,
      value: waiting,
    }
  if (refused !== null)
    return { status: 'warn', message: `A mail waits for its next try: ${refused}`, value: waiting }
  return { status: 'ok', message: 'Mails are sent', at: last?.endedAt ?? null, value: waiting }
}

/** `value`: how many purges wait. */
export const checkCdn: Check = (ctx) => {
  const { kind, pending, failing, lastPurge } = cdnState(ctx)
  const at = lastPurge === null ? null : Date.parse(lastPurge.at)
  if (failing > 0)
    return {
      status: 'warn',
      message: `The CDN (${kind}) was not told of ${failing} keys yet`,
      at,
      value: pending,
    }
  return { status: 'ok', message: `The CDN (${kind}) is told of changes`, at, value: pending }
}
