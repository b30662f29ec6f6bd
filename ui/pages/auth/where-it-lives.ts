import { copyable } from '../../components/copyable.ts'
import { type Html, html } from '../../html.ts'

/** As the server was started. */
export type Place = { baseDomain: string; adminUrl: string; tls: 'off' | 'auto' | 'files' }

/** The addresses of this server, and what a domain of one's own needs. */
export const whereItLives = (place: Place): Html =>
  place.baseDomain === 'localhost' ? onThisMachine : belowDomain(place)

const onThisMachine: Html = html`
  <p>
    Now on this machine: each site has an address below <code>localhost</code>, and there is nothing to set up. To try svc
    out, go on to the next step.
  </p>
  <details class="more">
    <summary>With a domain of your own</summary>
    <div class="stack">
      <p>
        Let <code>*.sites.example.com</code> lead to the server, by an <strong>A</strong> or <strong>AAAA</strong> record in
        your DNS. Then start svc there, and what you make now comes along in its data folder:
      </p>
      ${copyable({ label: 'Start it with a domain', text: 'BASE_DOMAIN=sites.example.com TLS=auto svc serve' })}
      <p>
        It gets its certificates by itself, for which the internet has to reach its ports 80 and 443. Where a reverse proxy
        holds the certificates, leave <code>TLS</code> away and set <code>PUBLIC_URL</code>. More
        in <code>docs/operating.md</code>.
      </p>
    </div>
  </details>
`

const belowDomain = ({ baseDomain, adminUrl, tls }: Place): Html => html`
  <p>
    Each site lives below <code>${baseDomain}</code>, and the admin at <a href=${adminUrl}>${adminUrl}</a>. In your
    DNS <code>*.${baseDomain}</code> has to lead to this server, by an <strong>A</strong> or <strong>AAAA</strong> record.
  </p>
  <p>${CERTIFICATES[tls]}</p>
`

const CERTIFICATES: Record<Place['tls'], Html> = {
  auto: html`
    The server gets its certificates by itself: the internet has to reach its ports 80 and 443. How that goes stands
    under <a href="/admin/health">Health</a>.
  `,
  files: html`
    Certificates come from <code>TLS_CERT_FILE</code>. It should hold the wildcard name, and is read again when it changes.
  `,
  off: html`
    The server speaks plain HTTP, for a reverse proxy that holds the certificates. Without one, start it
    with <code>TLS=auto</code>.
  `,
}
