import { copyable } from '../components/copyable.ts'
import { type Html, html } from '../components/html.ts'

/** As configured when the server started. */
export type Place = { baseDomain: string; adminUrl: string; tls: 'off' | 'auto' | 'files' }

/** The addresses of this server, and how to set up a domain of your own. */
export const whereItLives = (place: Place): Html =>
  place.baseDomain === 'localhost' ? onThisMachine : belowDomain(place)

const onThisMachine: Html = html`
  <p>
    For now, each site has an address below <code>localhost</code> on this machine, and there is nothing to set up. To try
    svc out, go on to the next step.
  </p>
  <details class="more">
    <summary>With a domain of your own</summary>
    <div class="stack">
      <p>
        Point <code>sites.example.com</code> and <code>*.sites.example.com</code> at the server, each with
        an <strong>A</strong> or <strong>AAAA</strong> record in your DNS. Then start svc there, and what you make now comes along in its data folder:
      </p>
      ${copyable({ label: 'Start it with a domain', text: 'BASE_DOMAIN=sites.example.com TLS=auto svc serve' })}
      <p>
        It gets its certificates automatically if ports 80 and 443 are open to the internet. With a certificate of your own,
        use <code>TLS=files</code>. If a reverse proxy holds the certificates, leave <code>TLS</code> out and
        set <code>PUBLIC_URL</code> and, to the address of the proxy, <code>TRUST_PROXY</code>. More
        in <a href="/docs/operating">docs/operating.md</a>.
      </p>
    </div>
  </details>
`

const belowDomain = ({ baseDomain, adminUrl, tls }: Place): Html => html`
  <p>
    Each site lives below <code>${baseDomain}</code>, and the admin at <a href=${adminUrl}>${adminUrl}</a>. In your
    DNS, point <code>${baseDomain}</code> and <code>*.${baseDomain}</code> at this server, each with
    an <strong>A</strong> or <strong>AAAA</strong> record.
  </p>
  <p>${CERTIFICATES[tls]}</p>
`

const CERTIFICATES: Record<Place['tls'], Html> = {
  auto: html`
    The server gets its certificates automatically if ports 80 and 443 are open to the internet.
    See <a href="/admin/health">Health</a> for their state.
  `,
  files: html`
    Certificates come from <code>TLS_CERT_FILE</code>. The certificate should include the wildcard name. The file is read again when it changes.
  `,
  off: html`
    The server speaks plain HTTP behind a reverse proxy that holds the certificates. Without a proxy, start it
    with <code>TLS=auto</code>, or <code>TLS=files</code> with a certificate of your own.
  `,
}
