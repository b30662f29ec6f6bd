import type { DomainView } from '../../src/modules/domains/service.ts'
import { badge } from '../components/badge.ts'
import { button } from '../components/button.ts'
import { details } from '../components/details.ts'
import { hidden } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { notice } from '../components/notice.ts'
import { day, time } from '../components/time.ts'

export type CertificateProps = {
  domain: DomainView
  baseDomain: string
  /** The source of this server's certificates (`TLS`). */
  tls: 'off' | 'auto' | 'files'
  mayManage: boolean
}

/** The state of the certificate, and what to do about it. Sends `intent=certificate`. */
export function certificateSection(props: CertificateProps): Html {
  const { domain, tls } = props
  if (isThisMachine(domain.hostname))
    return html`<p>It needs none: browsers trust <code>localhost</code> without one, and no authority issues one for it.</p>`
  if (tls === 'off') return elsewhere(props)
  if (tls === 'files') return fromFiles(domain)
  if (domain.verification.verifiedAt === null)
    return html`<p>The server requests a certificate automatically once the domain is verified.</p>`
  switch (domain.certificate.status) {
    case 'active':
      return domain.certificate.error === null ? valid(domain) : notRenewed(props)
    case 'expired':
      return expired(props)
    case 'failed':
      return missing(props)
    default:
      return pending
  }
}

/** Names that lead to the visitor's own machine. RFC 6761 §6.3. */
export const isThisMachine = (host: string): boolean => host === 'localhost' || host.endsWith('.localhost')

const valid = ({ certificate }: DomainView): Html => html`
  ${validity(certificate)}
  <p class="muted">The server renews it automatically when a third of its lifetime is left.</p>
`

const notRenewed = (props: CertificateProps): Html => html`
  ${validity(props.domain.certificate)}
  ${notice({ tone: 'warn', message: 'The last renewal failed. The certificate works until it expires, and the server keeps retrying.' })}
  ${whatNow(props)}
`

const expired = (props: CertificateProps): Html => html`
  ${validity(props.domain.certificate)}
  ${notice({ tone: 'bad', message: 'The certificate has expired, so browsers warn all visitors. The server keeps retrying.' })}
  ${whatNow(props)}
`

const missing = (props: CertificateProps): Html => html`
  ${notice({ tone: 'bad', message: 'There is no certificate yet, so nobody can visit the domain. The server keeps retrying, less often each time.' })}
  ${whatNow(props)}
`

const pending: Html = html`
  <p>${badge('Requested', 'info')}</p>
  <p>This takes a few seconds, or longer if many are requested at the same time. <a href="">Check again</a></p>
`

const validity = ({ status, expiresAt }: DomainView['certificate']): Html =>
  details([
    ['State', status === 'active' ? badge('Valid', 'good') : badge('Expired', 'bad')],
    [
      status === 'active' ? 'Valid until' : 'Expired',
      expiresAt !== null && html`${day(expiresAt)} (${time(expiresAt)})`,
    ],
  ])

/** The authority's own message, and what helps. */
function whatNow({ domain, mayManage }: CertificateProps): Html {
  const error = domain.certificate.error ?? ''
  const advice = adviceFor(error, domain.hostname).map((one) => html`<p>${one}</p>`)
  return html`
    ${details([
      ['Reason', error !== '' && html`<span class="path">${error}</span>`],
      ['What helps', html`<div class="stack">${advice}</div>`],
    ])}
    ${
      mayManage &&
      html`
        <form method="post">
          ${hidden('intent', 'certificate')} ${button({ label: 'Try again now', kind: 'secondary' })}
        </form>
      `
    }
  `
}

type Advice = { isAbout: RegExp; advice: (host: string) => Html }

const ADVICE: readonly Advice[] = [
  {
    isAbout: /\bCAA\b/i,
    advice: (host) => html`
      A <strong>CAA</strong> record in the DNS of ${host}, or of the domain above it, names other certificate authorities.
      Add this one, or delete the record.
    `,
  },
  {
    isAbout: /rate.?limit|too many|asked us to wait/i,
    advice: () => html`
      The certificate authority has issued or refused too many certificates lately. There is nothing to fix: wait for the next try.
    `,
  },
  {
    isAbout: /authority could not be (asked|reached)|five minutes|nor an allowed target|external account/i,
    advice: () => html`
      The certificate authority cannot be reached or does not work. The operator of this server finds more in its log.
    `,
  },
  {
    isAbout: /\bDNS\b|NXDOMAIN|SERVFAIL|no valid (A|IP)|resolve/i,
    advice: (host) => html`
      The <strong>A</strong>, <strong>AAAA</strong> or <strong>CNAME</strong> record of ${host} must point to this server.
      A change can take an hour to reach everyone.
    `,
  },
  {
    isAbout: /connect|timeout|timed out|refused|firewall|unreachable|invalid response|did not answer/i,
    advice: (host) => html`
      The certificate authority connects to ${host} on <strong>port 80</strong>. The port must be open to the internet, and
      this server must answer there: check for an old <strong>AAAA</strong> record or a proxy that leads elsewhere.
    `,
  },
]

/** The advice that matches the authority's message; where none matches, all advice about the host. */
function adviceFor(error: string, host: string): Html[] {
  const fitting = ADVICE.filter(({ isAbout }) => isAbout.test(error))
  const shown = fitting.length > 0 ? fitting : ADVICE.filter((_one, i) => i === 0 || i > 2)
  return shown.map(({ advice }) => advice(host))
}

function fromFiles({ certificate }: DomainView): Html {
  const { status, error } = certificate
  return html`
    ${status === 'active' || status === 'expired' ? validity(certificate) : notice({ tone: 'bad', message: error ?? 'There is no certificate.' })}
    <p class="muted">
      The operator of this server keeps it in the file named by <code>TLS_CERT_FILE</code>. A new one is used as soon as it
      is there.
    </p>
  `
}

function elsewhere({ domain, baseDomain }: CertificateProps): Html {
  const isBelow = domain.hostname.endsWith(`.${baseDomain}`)
  return html`
    <p>
      svc speaks plain HTTP and gets no certificate for this host. The reverse proxy in front of it must hold and renew the
      certificate for <strong>${isBelow ? `*.${baseDomain}` : domain.hostname}</strong>.
    </p>
    <p class="muted">
      ${
        domain.url.startsWith('https:')
          ? html`Links to it start with <code>https://</code>, as <code>PUBLIC_URL</code> says.`
          : html`Links to it start with <code>http://</code>. If your proxy speaks TLS, set <code>PUBLIC_URL</code> to the https address of the admin.`
      }${' '}
      The proxy must pass on the <code>Host</code> header unchanged. More, also for nginx, Caddy and Traefik, under
      “Behind a reverse proxy” in <a href="/docs/operating#behind-a-reverse-proxy">docs/operating.md</a>. Without a proxy, start
      svc with <code>TLS=auto</code>, and it gets and renews the certificates itself, or with <code>TLS=files</code> and a
      certificate of your own.
    </p>
  `
}
