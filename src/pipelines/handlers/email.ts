import { AppError } from '../../domain/errors.ts'
import { checkFieldValue } from '../../domain/field-types.ts'
import { MAX_RECIPIENTS } from '../language/handlers/email.ts'
import { textOf } from '../language/templates.ts'
import type { Runner } from '../runner.ts'
import { optionalText } from './config.ts'

export const emailRunner: Runner = {
  async run({ ctx }, config) {
    if (!ctx.mail.isConfigured)
      throw new AppError('internal', 'This server sends no mail: its operator has not set SMTP_URL', {
        code: 'EMAIL_NOT_CONFIGURED',
      })
    const replyTo = optionalText(config, 'replyTo')
    const mail = {
      to: addressesOf(config['to']),
      subject: textOf(config['subject']).replaceAll(/[\r\n]+/g, ' '),
      text: textOf(config['body']),
      ...(replyTo === null || replyTo === '' ? {} : { replyTo: address(replyTo, 'replyTo') }),
    }
    try {
      await ctx.mail.send(mail)
    } catch (cause) {
      throw new AppError('internal', 'The mail server did not accept the mail', { cause })
    }
    return { sent: true }
  },
}

function addressesOf(value: unknown): string[] {
  const list = Array.isArray(value) ? value : typeof value === 'string' ? value.split(',') : []
  if (list.length === 0 || list.length > MAX_RECIPIENTS)
    throw new AppError('invalid', `to must be 1 to ${MAX_RECIPIENTS} email addresses`)
  return list.map((one) => address(one, 'to'))
}

function address(value: unknown, key: string): string {
  const text = typeof value === 'string' ? value.trim() : value
  if (typeof text !== 'string' || !checkFieldValue('email', text).ok)
    throw new AppError('invalid', `${key} must be an email address`)
  return text
}
