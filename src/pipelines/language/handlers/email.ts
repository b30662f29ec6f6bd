import { Type } from 'typebox'
import type { Handler } from '../handler.ts'
import { anyValue, expression } from './config.ts'

export const MAX_RECIPIENTS = 50

export const emailHandler: Handler<'email_handler'> = {
  names: ['email_handler'],
  summary: 'Sends a plain-text mail, if the operator has set up a mail server.',
  result: '`{ sent: true }`.',
  config: Type.Object(
    {
      to: anyValue(`an address, or up to ${MAX_RECIPIENTS} as a list or separated by commas`),
      subject: expression('the subject'),
      body: anyValue('the text'),
      replyTo: Type.Optional(expression('the address for replies')),
    },
    { additionalProperties: false },
  ),
}
