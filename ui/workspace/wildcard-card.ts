import type { WildcardView } from '../../src/modules/certificates/service.ts'
import { badge } from '../components/badge.ts'
import { button } from '../components/button.ts'
import { card } from '../components/card.ts'
import { copyable } from '../components/copyable.ts'
import { details } from '../components/details.ts'
import { hidden } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { notice } from '../components/notice.ts'
import { day, time } from '../components/time.ts'

/** The certificate for every host below the base domain, or how to get it. Sends `intent=retry-wildcard`. */
export const wildcardCard = (wildcard: WildcardView | null, baseDomain: string): Html =>
  wildcard === null ? notSetUp(baseDomain) : setUp(wildcard, baseDomain)

const setUp = (wildcard: WildcardView, baseDomain: string): Html =>
  card(
    {
      id: 'wildcard',
      title: 'Every host below the base domain',
      about: html`One certificate for ${wildcard.hosts.map((host, at) => html`${at > 0 && ' and '}<code>${host}</code>`)}: none of
      these hosts is published by one of its own.`,
    },
    html`
      <div class="stack" data-live="wildcard" aria-live="polite">
        ${wildcard.record !== null && recordToSet(wildcard.record, baseDomain, wildcard.status)}
        ${failure(wildcard)} ${state(wildcard)}
        ${
          (wildcard.status !== 'valid' || wildcard.error !== null) &&
          html`
            <form method="post">
              ${hidden('intent', 'retry-wildcard')} ${button({ label: 'Try again now', kind: 'secondary' })}
            </form>
          `
        }
      </div>
    `,
  )

const BADGES: Record<WildcardView['status'], Html> = {
  pending: badge('Requested', 'info'),
  valid: badge('Valid', 'good'),
  failed: badge('Missing', 'bad'),
}

const state = ({ status, provider, expiresAt, renewAt, triedAt }: WildcardView): Html =>
  details([
    ['State', BADGES[status]],
    ['Valid until', expiresAt !== null && html`${day(expiresAt)} (${time(expiresAt)})`],
    ['Renewal', renewAt !== null && time(renewAt)],
    ['Last tried', time(triedAt)],
    ['Proven by', html`DNS, <code>ACME_DNS=${provider}</code>`],
  ])

const failure = ({ status, error }: WildcardView): Html | false =>
  error !== null &&
  notice({
    tone: status === 'valid' ? 'warn' : 'bad',
    message: html`<div class="stack">
      <p>${
        status === 'valid'
          ? 'The last renewal failed. The certificate works until it expires, and the server keeps retrying.'
          : 'There is no certificate yet. The server keeps retrying, less often each time.'
      }</p>
      <p class="path">${error}</p>
    </div>`,
  })

/** It stays for good: each renewal is proven by it. */
const recordToSet = (
  { name, type, value }: NonNullable<WildcardView['record']>,
  baseDomain: string,
  status: WildcardView['status'],
): Html => html`
  <div class="stack">
    <h3>${status === 'valid' ? 'The record that stays' : 'The record to set'}</h3>
    ${copyable({ label: `Name of the ${type} record`, text: name })}
    ${copyable({ label: `Value of the ${type} record`, text: value })}
    <p>
      Add this <strong>${type}</strong> record once, where you manage the DNS of ${baseDomain}, and leave it there: renewing needs it.
      It can take some minutes to become visible; the server looks by itself.
    </p>
  </div>
`

const notSetUp = (baseDomain: string): Html =>
  card(
    { id: 'wildcard', title: 'One certificate for every host' },
    html`
      <div class="stack">
        <p>
          Every certificate is listed in public with its host, and authorities issue few of them a week for one domain. One for
          ${' '}<code>*.${baseDomain}</code> publishes no project's name and covers each alias and preview from its first second. It is
          proven by a record in the DNS, which <code>ACME_DNS</code> says how to set:
        </p>
        ${details([
          ['cloudflare, hetzner', 'by their API, with a token'],
          ['rfc2136', 'by an update of your own name server'],
          ['exec', 'by a program of yours, as lego calls it'],
          ['acme-dns', 'at an acme-dns server, with one CNAME record that you set once'],
          ['persist', 'by one TXT record that you set once, where the authority offers it'],
        ])}
        <p>
          <a href="/docs/operating#one-certificate-for-all-hosts">One certificate for all hosts</a> has the settings of each.
        </p>
      </div>
    `,
  )
