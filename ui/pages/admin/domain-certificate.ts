import type { DomainView } from '../../../src/modules/domains/service.ts'
import { badge } from '../../components/badge.ts'
import { button } from '../../components/button.ts'
import { details } from '../../components/details.ts'
import { hidden } from '../../components/field.ts'
import { notice } from '../../components/notice.ts'
import { day, time } from '../../components/time.ts'
import { type Html, html } from '../../html.ts'

export type CertificateProps = {
  domain: DomainView
  baseDomain: string
  /** Where this server's certificates come from (`TLS`). */
  tls: 'off' | 'auto' | 'files'
  mayManage: boolean
}

/** What is known of the certificate, and what there is to do. Sends `intent=certificate`. */
export function certificateSection(props: CertificateProps): Html {
  const { domain, tls } = props
  if (tls === 'off') return elsewhere(props)
  if (tls === 'files') return fromFiles(domain)
  if (domain.verification.verifiedAt === null)
    return html`<p>The server asks for one by itself once the domain is proven.</p>`
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

const valid = ({ certificate }: DomainView): Html => html`
  ${validity(certificate)}
  <p class="muted">The server renews it by itself, with a third of its time left.</p>
`

const notRenewed = (props: CertificateProps): Html => html`
  ${validity(props.domain.certificate)}
  ${notice({ tone: 'warn', message: 'It could not be renewed. Until it runs out nobody notices, and the server tries again by itself.' })}
  ${whatNow(props)}
`

const expired = (props: CertificateProps): Html => html`
  ${validity(props.domain.certificate)}
  ${notice({ tone: 'bad', message: 'It has run out: browsers warn all visitors. The server tries again by itself.' })}
  ${whatNow(props)}
`

const missing = (props: CertificateProps): Html => html`
  ${notice({ tone: 'bad', message: 'There is none yet, so nobody can visit the domain. The server tries again by itself, less often each time.' })}
  ${whatNow(props)}
`

const pending: Html = html`
  <p>${badge('Being asked for', 'info')}</p>
  <p>This takes some seconds, or longer where many are asked for at once. <a href="">Look again</a></p>
`

const validity = ({ status, expiresAt }: DomainView['certificate']): Html =>
  details([
    ['State', status === 'active' ? badge('Valid', 'good') : badge('Expired', 'bad')],
    [
      status === 'active' ? 'Valid until' : 'Ran out',
      expiresAt !== null && html`${day(expiresAt)} (${time(expiresAt)})`,
    ],
  ])

/** The authority's own words, and what helps. */
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
    isAbout: /rate.?limit|too many|left alone/i,
    advice: () => html`
      The certificate authority has made or refused too many lately. There is nothing to mend: wait until it is tried again.
    `,
  },
  {
    isAbout: /could not be asked|five minutes|not an allowed target|external account/i,
    advice: () => html`
      The certificate authority itself cannot be reached or used. Whoever runs this server finds more in its log.
    `,
  },
  {
    isAbout: /\bDNS\b|NXDOMAIN|SERVFAIL|no valid (A|IP)|resolve/i,
    advice: (host) => html`
      The <strong>A</strong>, <strong>AAAA</strong> or <strong>CNAME</strong> record of ${host} has to lead to this server. A
      change may take an hour to be seen everywhere.
    `,
  },
  {
    isAbout: /connect|timeout|timed out|refused|firewall|unreachable|invalid response|did not answer/i,
    advice: (host) => html`
      The certificate authority asks ${host} on <strong>port 80</strong>. It must be open to the internet, and what answers
      there must be this server: an old <strong>AAAA</strong> record or a proxy in between leads elsewhere.
    `,
  },
]

/** What fits the reason, in the authority's words; all that concerns the host where nothing does. */
function adviceFor(error: string, host: string): Html[] {
  const fitting = ADVICE.filter(({ isAbout }) => isAbout.test(error))
  const shown = fitting.length > 0 ? fitting : ADVICE.filter((_one, i) => i === 0 || i > 2)
  return shown.map(({ advice }) => advice(host))
}

function fromFiles({ certificate }: DomainView): Html {
  const { status, error } = certificate
  return html`
    ${status === 'active' || status === 'expired' ? validity(certificate) : notice({ tone: 'bad', message: error ?? 'There is none.' })}
    <p class="muted">
      Whoever runs this server keeps it in the file that <code>TLS_CERT_FILE</code> names. A new one is taken up as soon as it
      is there.
    </p>
  `
}

function elsewhere({ domain, baseDomain }: CertificateProps): Html {
  const isBelow = domain.hostname.endsWith(`.${baseDomain}`)
  return html`
    <p>
      svc makes no certificate for this host: it speaks plain HTTP, and the reverse proxy in front of it has to hold and
      renew the one for <strong>${isBelow ? `*.${baseDomain}` : domain.hostname}</strong>.
    </p>
    <p class="muted">
      ${
        domain.url.startsWith('https:')
          ? html`Links to it start with <code>https://</code>, as <code>PUBLIC_URL</code> says.`
          : html`Links to it start with <code>http://</code>. With a proxy that speaks TLS, set <code>PUBLIC_URL</code> to the https address of the admin.`
      }${' '}
      Settings for nginx, Caddy and Traefik stand in <code>docs/operating.md</code>, “Behind a reverse proxy”. Without a
      proxy, start svc with <code>TLS=auto</code>: it gets and renews the certificates itself.
    </p>
  `
}
