import type { DomainView } from '../../src/modules/domains/service.ts'
import { badge } from '../components/badge.ts'
import { button } from '../components/button.ts'
import { card } from '../components/card.ts'
import { copyable } from '../components/copyable.ts'
import { details } from '../components/details.ts'
import { hidden } from '../components/field.ts'
import { type Content, type Html, html } from '../components/html.ts'
import { day, time } from '../components/time.ts'
import { type CertificateProps, certificateSection, isThisMachine } from './certificate.ts'

type ProofProps = {
  domain: DomainView
  mayVerify: boolean
  /** Global admins may skip the verification. */
  isGlobalAdmin: boolean
  baseDomain: string
}

/** How to verify that the host belongs to the project, or how it was verified. Sends `intent=verify` or `trust`. */
export function proofCard(props: ProofProps): Html {
  const { verification } = props.domain
  return verification.verifiedAt === null ? openProof(props) : doneProof(props.domain)
}

const PROVEN_BY: Record<DomainView['verification']['method'], Content> = {
  base_domain: 'Not needed: the name belongs to this workspace',
  txt: 'The TXT record was found',
  http: 'The host answered with the value',
  admin: 'A workspace administrator trusted it',
}

const doneProof = ({ verification }: DomainView): Html =>
  card(
    { id: 'proof', title: 'Verification', aside: badge('Verified', 'good') },
    details([
      ['How', PROVEN_BY[verification.method]],
      ['Since', day(verification.verifiedAt)],
    ]),
  )

const openProof = (props: ProofProps): Html =>
  card(
    {
      id: 'proof',
      title: 'Verify that you own this domain',
      about: 'Until it is verified, visitors get an error.',
    },
    html`${ways(props)} ${status(props)} ${props.mayVerify && props.isGlobalAdmin && trust(props.domain)}`,
  )

function ways({ domain, baseDomain }: ProofProps): Html {
  const { name, value, url } = domain.verification
  return html`
    <div class="stack">
      <h3>A DNS record</h3>
      ${copyable({ label: 'Name of the TXT record', text: name ?? '' })}
      ${copyable({ label: 'Value of the TXT record', text: value ?? '' })}
      <p>Add this <strong>TXT</strong> record where you manage the DNS of the domain. It can take some minutes to become visible.</p>
      ${url === null && html`<p>Another project claims this domain too, so only this record verifies it. The first that is found wins.</p>`}
    </div>
    ${
      url !== null &&
      domain.hostname !== baseDomain &&
      html`
        <details class="more">
          <summary>Or a response from the host itself</summary>
          <div class="stack">
            <p>
              If the host already points to this server, there is nothing to do: svc gives the response. Any other server must
              respond to this address with the value above, as plain text with status 200.
            </p>
            ${copyable({ label: 'Address to be requested', text: url })}
          </div>
        </details>
      `
    }
  `
}

/** An island checks again automatically (islands/domain-status.js, `data-domain`). */
const status = ({ domain, mayVerify }: ProofProps): Html => html`
  <div class="stack" data-domain=${domain.id} data-verifies=${mayVerify}>
    <div aria-live="polite">
      <p>
        <strong data-found>${domain.verification.checkedAt === null ? 'Not checked yet.' : 'Not found.'}</strong>${' '}
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
      <p class="muted"><span class="pulse"></span>This page checks again automatically.</p>
    </div>
  </div>
`

const trust = ({ hostname }: DomainView): Html => html`
  <details class="more">
    <summary>Trust it without verification</summary>
    <form method="post" class="stack">
      ${hidden('intent', 'trust')}
      <p>You administer this workspace. Do this only if you know that ${hostname} belongs to the people of this project.</p>
      <div>${button({ label: 'Trust this domain', kind: 'secondary' })}</div>
    </form>
  </details>
`

/** `addresses`: where others reach this server. */
export type WayProps = CertificateProps & { adminHost: string; addresses: readonly string[] }

/** How visitors reach the host: its DNS records and its certificate. */
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

function pointing({ domain, baseDomain, adminHost, addresses }: WayProps): Html {
  if (isThisMachine(domain.hostname))
    return html`<p>Names that end in <code>localhost</code> lead to the visitor's own machine. No record is needed.</p>`
  if (domain.hostname.endsWith(`.${baseDomain}`))
    return html`<p>The wildcard record <code>*.${baseDomain}</code> points here, as for every alias.</p>`
  if (!adminHost.includes('.') || isThisMachine(adminHost))
    return html`
      ${addresses.map(addressRecord)}
      <p>Add an <strong>A</strong> or <strong>AAAA</strong> record for ${domain.hostname} with the address of this server.</p>
      ${whereElse}
    `
  return html`
    ${copyable({ label: 'Value of the CNAME record', text: adminHost })}
    <p>Point ${domain.hostname} at this server with this <strong>CNAME</strong> record.</p>
    ${addresses.map(addressRecord)}
    <p>
      If the domain cannot have a CNAME record, use <strong>A</strong> and <strong>AAAA</strong> records with the addresses
      of that name.
    </p>
    ${whereElse}
  `
}

const addressRecord = (address: string): Html =>
  copyable({ label: `Value of the ${address.includes(':') ? 'AAAA' : 'A'} record`, text: address })

const whereElse: Html = html`
  <p class="muted">If visitors reach this server through a router or a proxy, use the address of that one.</p>
`
