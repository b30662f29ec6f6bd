import type { CertificatesView, CertificateView } from '../../src/modules/certificates/service.ts'
import { card } from '../components/card.ts'
import { type Content, type Html, html } from '../components/html.ts'
import { notice } from '../components/notice.ts'
import { type Column, table } from '../components/table.ts'
import { day } from '../components/time.ts'
import { certificateBadge } from '../domains/certificate-state.ts'
import type { Failed } from '../frame/project-request.ts'
import { type WorkspacePageBase, workspaceFrame } from './frame.ts'
import { wildcardCard } from './wildcard-card.ts'

type CertificatesPageProps = WorkspacePageBase & {
  found: CertificatesView
  baseDomain: string
  adminHost: string
  failed?: Failed | undefined
}

/** Which hosts have a certificate. Sends `retry-wildcard`. islands/live.js keeps it up to date. contract 19.5. */
export const certificatesPage = (props: CertificatesPageProps): Html => {
  const { found, baseDomain, failed } = props
  return workspaceFrame(
    props,
    { place: 'certificates', title: 'Certificates', about: ABOUT[found.tls] },
    html`
      ${failed !== undefined && notice({ tone: 'bad', message: failed.error.message, live: true })}
      ${found.tls === 'auto' && wildcardCard(found.wildcard, baseDomain)}
      ${found.tls === 'off' ? elsewhere(props) : hostsCard(found)}
    `,
  )
}

const ABOUT: Record<CertificatesView['tls'], string> = {
  off: 'This server speaks plain HTTP: what stands in front of it has the certificates.',
  auto: 'This server orders them, renews them and takes new ones up while it runs.',
  files: 'This server shows everybody the one certificate in TLS_CERT_FILE.',
}

function hostsCard({ tls, directory, wildcard, certificates }: CertificatesView): Html {
  const about =
    tls === 'files'
      ? html`A new file is used as soon as it is there, without a restart.`
      : html`From <code class="path">${directory}</code>, by a request to port 80 of each host.`
  return card(
    { id: 'hosts', title: wildcard === null ? 'Hosts' : 'Other hosts', about },
    html`<div data-live="hosts">${
      certificates.length === 0
        ? html`<p class="muted">${NONE[wildcard === null ? 'alone' : 'beside']}</p>`
        : table<CertificateView>({ caption: 'Certificates', rows: certificates, columns: COLUMNS })
    }</div>`,
  )
}

const NONE = {
  alone: html`None: no authority vouches for <code>localhost</code>, IP addresses and names without a dot. Every verified domain of a
  project gets one by itself.`,
  beside: 'None. Every verified domain of a project outside the base domain gets one by itself.',
} satisfies Record<string, Content>

const WAYS: Record<CertificateView['method'], string> = {
  'http-01': 'Port 80',
  'dns-01': 'DNS',
  'dns-persist-01': 'DNS, set once',
  file: 'File',
}

const COLUMNS: Column<CertificateView>[] = [
  { label: 'Host', cell: ({ host }) => html`<code class="path">${host}</code>` },
  {
    label: 'State',
    cell: ({ status, error }) => html`
      ${certificateBadge(status)}${error !== null && html`<div class="muted small path">${error}</div>`}
    `,
  },
  { label: 'Proven by', cell: ({ method }) => WAYS[method] },
  { label: 'Valid until', align: 'end', cell: ({ expiresAt }) => day(expiresAt, 'not yet') },
]

const elsewhere = ({ baseDomain, adminHost }: CertificatesPageProps): Html =>
  card(
    { id: 'elsewhere', title: 'At the proxy' },
    html`
      <div class="stack">
        <p>The reverse proxy in front of this server holds the certificates and renews them. It needs them for</p>
        <ul>
          <li><code>${adminHost}</code>, this admin</li>
          <li><code>*.${baseDomain}</code>, every alias and preview; such a certificate needs the DNS challenge</li>
          <li>each domain of a project outside of these</li>
        </ul>
        <p>
          <a href="/docs/operating#behind-a-reverse-proxy">Behind a reverse proxy</a> has the settings for nginx, Caddy and Traefik.
        </p>
        <p class="muted">
          Without a proxy, start svc with <code>TLS=auto</code>, and it gets and renews them by itself: one for each host, or with
          ${' '}<code>ACME_DNS</code> one for all of them, so that no project's name is published
          (<a href="/docs/operating#certificates-by-themselves-tlsauto">Certificates by themselves</a>). With <code>TLS=files</code>
          ${' '}it serves a pair of yours.
        </p>
      </div>
    `,
  )
