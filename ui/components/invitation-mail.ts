import type { InvitationMail } from '../../src/modules/notices/outbox.ts'
import { type Html, html } from './html.ts'
import { notice } from './notice.ts'

/** Beside the link of an invitation: whether it was mailed. */
export const invitationMail = (mail: InvitationMail): Html =>
  mail === 'queued'
    ? notice({
        tone: 'good',
        live: true,
        message:
          'A mail with the link is on its way. You can send the link yourself, too: it is not shown again.',
      })
    : notice({
        tone: 'warn',
        live: true,
        message: html`${mail === 'limited' && 'This address was mailed five times within the hour, so no mail is sent. '}Copy the link now and send it. It is not shown again.`,
      })
