import type { BackupsView } from '../../src/modules/backups/service.ts'
import type { CdnView } from '../../src/modules/cdn/service.ts'
import type { HealthDetails } from '../../src/modules/health/details.ts'
import type { CertificateState } from '../../src/platform/certificates.ts'
import { badge } from '../components/badge.ts'
import { button } from '../components/button.ts'
import { card } from '../components/card.ts'
import { details } from '../components/details.ts'
import { formatDuration } from '../components/duration.ts'
import { field, fieldError, formError, hidden } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { sides } from '../components/sides.ts'
import { type Column, table } from '../components/table.ts'
import { time } from '../components/time.ts'
import { certificateState } from '../domains/certificate-state.ts'
import type { Failed } from '../frame/project-request.ts'
import { lastBackupText, lastDrillText } from './backups.ts'
import { cdnCard } from './cdn-card.ts'
import { type WorkspacePageBase, workspaceFrame } from './frame.ts'

type HealthPageProps = WorkspacePageBase & {
  checks: HealthDetails['checks']
  version: string
  /** In seconds. */
  uptime: number
  adminUrl: string
  /** The certificate of the admin host. */
  certificate: CertificateState
  /** Whether a mail server is set up. */
  canMail: boolean
  backups: Pick<BackupsView, 'last' | 'lastDrill'>
  cdn: CdnView
  failed?: Failed | undefined
}

/** The state of every part of the server, and facts about it. Sends `intent=mail-test` with `to`. */
export const healthPage = (props: HealthPageProps): Html =>
  workspaceFrame(
    props,
    { place: 'health', title: 'Health' },
    html`
      ${card(
        {
          id: 'checks',
          title: 'Checks',
          about: 'Opening this page looks at each part; database and storage are really written and read.',
        },
        table<Check>({ caption: 'Checks', rows: props.checks, columns: COLUMNS }),
      )}
      ${sides(mailCard(props), cdnCard(props.cdn), serverCard(props))}
    `,
  )

type Check = HealthDetails['checks'][number]

const COLUMNS: Column<Check>[] = [
  { label: 'Part', cell: ({ name }) => LABELS[name] },
  { label: 'State', cell: ({ status }) => STATES[status] },
  { label: 'What is known', cell: ({ message }) => message },
  { label: 'As of', align: 'end', cell: ({ at }) => time(at, '–') },
]

const LABELS: Record<Check['name'], string> = {
  database: 'Database',
  storage: 'Storage',
  disk: 'Disk',
  backup: 'Backup',
  certificates: 'Certificates',
  webhooks: 'Webhooks',
  mail: 'Mail',
  retention: 'Retention',
  previews: 'Previews',
  cdn: 'CDN',
  store: 'Object store',
  standby: 'Stand-bys',
}

const STATES: Record<Check['status'], Html> = {
  ok: badge('OK', 'good'),
  warn: badge('Warning', 'warn'),
  error: badge('Failing', 'bad'),
  off: badge('Off'),
}

const mailCard = ({ canMail, failed }: HealthPageProps): Html =>
  card(
    {
      id: 'mail-test',
      title: 'Mail',
      about: canMail
        ? 'Send a test mail and see what the mail server says.'
        : 'Start svc with SMTP_URL to send invitations and notices by mail.',
    },
    html`
      ${formError(failed?.error)}
      ${canMail && mailForm(failed)}
    `,
  )

const mailForm = (failed: Failed | undefined): Html => html`
        <form method="post" class="stack">
          ${hidden('intent', 'mail-test')}
          ${field({
            name: 'to',
            label: 'To',
            type: 'email',
            hint: 'Empty: to yourself.',
            value: failed?.values['to'],
            error: fieldError(failed?.error, 'to'),
            required: false,
          })}
          <div class="actions">${button({ label: 'Send a test mail', kind: 'secondary' })}</div>
        </form>
`

const serverCard = ({ version, uptime, adminUrl, certificate, backups }: HealthPageProps): Html =>
  card(
    { id: 'server', title: 'Server' },
    details([
      ['Version', html`<code>${version}</code>`],
      ['Uptime', formatDuration(uptime)],
      ['Address', html`<a href=${adminUrl}>${adminUrl}</a>`],
      ['Certificate', certificateState(certificate)],
      ['Last backup', html`<a href="/admin/backups">${lastBackupText(backups.last)}</a>`],
      ['Last drill', lastDrillText(backups.lastDrill)],
      ['API', html`<a href="/api/docs">Explorer</a>`],
    ]),
  )
