import type { DomainView } from '../../../src/modules/domains/service.ts'
import { badge } from '../../components/badge.ts'
import { button } from '../../components/button.ts'
import { card } from '../../components/card.ts'
import { copyable } from '../../components/copyable.ts'
import { details } from '../../components/details.ts'
import { hidden } from '../../components/field.ts'
import { time } from '../../components/time.ts'
import { type Content, type Html, html } from '../../html.ts'
import { type CertificateProps, certificateSection } from './domain-certificate.ts'

type ProofProps = {
  domain: DomainView
  mayVerify: boolean
  /** Of the workspace: may skip the proof. */
  isGlobalAdmin: boolean
  baseDomain: string
}

/** That the host is the project's: what to do until it is, and how it was proven since. Sends `intent=verify` or `trust`. */
export function proofCard(props: ProofProps): Html {
  const { verification } = props.domain
  return verification.verifiedAt === null ? openProof(props) : doneProof(props.domain)
}

const PROVEN_BY: Record<DomainView['verification']['method'], Content> = {
  base_domain: 'Needs none: it is a name of this workspace',
  txt: 'The TXT record was found',
  http: 'The host itself answered with the value',
  admin: 'An administrator of the workspace trusted it',
}

const doneProof = ({ verification }: DomainView): Html =>
  card(
    { id: 'proof', title: 'Proof', aside: badge('Proven', 'good') },
    details([
      ['How', PROVEN_BY[verification.method]],
      ['Since', time(verification.verifiedAt)],
    ]),
  )

const openProof = (props: ProofProps): Html =>
  card(
    {
      id: 'proof',
      title: 'Prove that it is yours',
      about: 'Until then its visitors get an error. One of these is enough.',
    },
    html`${ways(props)} ${status(props)} ${props.mayVerify && props.isGlobalAdmin && trust(props.domain)}`,
  )

function ways({ domain, baseDomain }: ProofProps): Html {
  const { name, value, url } = domain.verification
  return html`
    <div class="stack">
      <h3>A record in the DNS</h3>
      <p>Add a <strong>TXT</strong> record where the DNS of the domain is managed. It may take some minutes to be seen.</p>
      ${copyable({ label: 'Name of the TXT record', text: name ?? '' })}
      ${copyable({ label: 'Value of the TXT record', text: value ?? '' })}
    </div>
    ${
      domain.hostname !== baseDomain &&
      html`
        <details class="more">
          <summary>Or an answer of the host itself</summary>
          <div class="stack">
            <p>
              Where the host leads to this server already there is nothing to do: it gives the answer by itself. Any other
              server has to answer this address with the value above, as plain text and with status 200.
            </p>
            ${copyable({ label: 'Address that is asked', text: url ?? '' })}
          </div>
        </details>
      `
    }
  `
}

/** The island looks again by itself (islands/domain-status.js, `data-domain`). */
const status = ({ domain, mayVerify }: ProofProps): Html => html`
  <div class="stack" data-domain=${domain.id} data-verifies=${mayVerify}>
    <div aria-live="polite">
      <p>
        <strong data-found>${domain.verification.checkedAt === null ? 'Not looked for yet.' : 'Not found.'}</strong>${' '}
        <span class="muted">Last checked: <span data-checked>${time(domain.verification.checkedAt)}</span></span>
      </p>
      <p class="muted path" data-reason>${domain.verification.error}</p>
    </div>
    ${
      mayVerify &&
      html`
        <form method="post">
          ${hidden('intent', 'verify')}
          ${button({ label: domain.verification.checkedAt === null ? 'Verify' : 'Check again' })}
        </form>
      `
    }
    <div data-scripted hidden>
      <p class="muted waiting"><span class="pulse"></span>This page looks again by itself.</p>
    </div>
  </div>
`

const trust = ({ hostname }: DomainView): Html => html`
  <details class="more">
    <summary>Trust it without proof</summary>
    <form method="post" class="stack">
      ${hidden('intent', 'trust')}
      <p>You administer this workspace. Do this only where you know that ${hostname} belongs to the people of this project.</p>
      <div>${button({ label: 'Trust this domain', kind: 'secondary' })}</div>
    </form>
  </details>
`

export type WayProps = CertificateProps & { adminHost: string }

/** How visitors get here: the DNS, and who holds the certificate. */
export const wayCard = (props: WayProps): Html =>
  card(
    { id: 'way', title: 'DNS and certificate' },
    html`
      <div class="stack">
        <h3>DNS</h3>
        ${pointing(props)}
      </div>
      <div class="stack" id="certificate">
        <h3>Certificate</h3>
        ${certificateSection(props)}
      </div>
    `,
  )

function pointing({ domain, baseDomain, adminHost }: WayProps): Html {
  if (domain.hostname.endsWith(`.${baseDomain}`))
    return html`<p>The wildcard record <code>*.${baseDomain}</code> leads here, as it does for every alias.</p>`
  if (!adminHost.includes('.'))
    return html`<p>Add an <strong>A</strong> or <strong>AAAA</strong> record for ${domain.hostname} with the address of this server.</p>`
  return html`
    <p>
      Point ${domain.hostname} at this server: a <strong>CNAME</strong> record with the value below, or, where a domain can
      have none, <strong>A</strong> and <strong>AAAA</strong> records with the addresses of the same name.
    </p>
    ${copyable({ label: 'Value of the CNAME record', text: adminHost })}
  `
}
