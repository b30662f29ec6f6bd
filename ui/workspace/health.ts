import type { Health } from '../../src/modules/health/service.ts'
import type { CertificateState } from '../../src/platform/certificates.ts'
import { badge } from '../components/badge.ts'
import { card } from '../components/card.ts'
import { details } from '../components/details.ts'
import { formatDuration } from '../components/duration.ts'
import { type Html, html } from '../components/html.ts'
import { certificateState } from '../domains/certificate-state.ts'
import { type WorkspacePageBase, workspaceFrame } from './frame.ts'

type HealthPageProps = WorkspacePageBase & {
  health: Health
  adminUrl: string
  /** The certificate of the admin host. */
  certificate: CertificateState
}

/** Whether the server works, and facts about it. */
export const healthPage = (props: HealthPageProps): Html => {
  const { health, adminUrl, certificate } = props
  return workspaceFrame(
    props,
    { place: 'health', title: 'Health' },
    html`
      ${card(
        {
          id: 'checks',
          title: 'Checks',
          about: 'Opening this page runs each check, which really writes and reads.',
        },
        details([
          ['Database', check(health.checks.database)],
          ['Storage', check(health.checks.storage)],
        ]),
      )}
      ${card(
        { id: 'server', title: 'Server' },
        details([
          ['Version', html`<code>${health.version}</code>`],
          ['Uptime', formatDuration(health.uptime)],
          ['Address', html`<a href=${adminUrl}>${adminUrl}</a>`],
          ['Certificate', certificateState(certificate)],
          ['API', html`<a href="/api/docs">Explorer</a>`],
        ]),
      )}
    `,
  )
}

const check = ({ status, message }: Health['checks']['database']): Html =>
  html`${status === 'ok' ? badge('OK', 'good') : badge('Failing', 'bad')} ${message}`
