import type { NoticeId } from '../../src/modules/notices/kinds.ts'
import { button } from '../components/button.ts'
import { card } from '../components/card.ts'
import { checkbox, hidden } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { notice } from '../components/notice.ts'

export type MailNotices = { mailConfigured: boolean; notices: readonly { id: NoticeId; isOn: boolean }[] }

/** A switch for each mail that can reach the person. Sends `intent=notices` and the ids of those that are on. */
export const noticesSection = ({ mailConfigured, notices }: MailNotices): Html =>
  card(
    {
      id: 'notices',
      title: 'Mail notices',
      about: 'What you are mailed about. Invitations and links that you ask for are mailed in any case.',
    },
    html`
      <form method="post" class="stack">
        ${hidden('intent', 'notices')}
        ${
          !mailConfigured &&
          notice({
            tone: 'info',
            message: 'This server sends no mail: its operator has not set up SMTP_URL.',
          })
        }
        ${notices.map(({ id, isOn }) => checkbox({ name: id, label: LABELS[id], hint: HINTS[id], checked: isOn }))}
        <div class="actions">${button({ label: 'Save notices', kind: 'secondary' })}</div>
      </form>
    `,
  )

const LABELS: Record<NoticeId, string> = {
  newDevice: 'New sign-ins',
  backupFailed: 'Failed backups',
  certificateFailing: 'Failing certificates',
  diskLow: 'A disk that is nearly full',
  webhookFailing: 'Failing webhooks',
}

const HINTS: Record<NoticeId, string> = {
  newDevice:
    'Somebody signs in to your account with a browser that has not been used for it, or by svc login.',
  backupFailed: 'Once, and then once a day while it lasts.',
  certificateFailing: 'A host has no certificate, or one that ends within 14 days; once a day and host.',
  diskLow: 'Before publishing is refused.',
  webhookFailing: 'The last three deliveries of a webhook that you manage failed; once a day.',
}
