import type { AttentionItem } from '../../src/modules/attention/service.ts'
import { badge } from './badge.ts'
import { card } from './card.ts'
import { type Content, type Html, html } from './html.ts'
import { time } from './time.ts'

export const ATTENTION_ID = 'needs-attention'

/** What needs attention, errors first; null if nothing does. `nameOf` says whose it is, where several are shown. */
export function attentionCard(
  items: readonly AttentionItem[],
  nameOf: (item: AttentionItem) => Content = () => null,
): Html | null {
  if (items.length === 0) return null
  return card(
    { id: ATTENTION_ID, title: 'Needs attention' },
    html`<ul class="stack">${items.map((item) => attentionItem(item, nameOf(item)))}</ul>`,
  )
}

/** Each cause once, in a few words, and the way to its newest item. */
export const attentionBadges = (items: readonly AttentionItem[]): Html => html`
  ${[...Map.groupBy(items, ({ code }) => code).values()].map(
    ([item]) =>
      item &&
      html`<a href=${item.href}>${badge(WORDS[item.code], item.severity === 'error' ? 'bad' : 'warn')}</a> `,
  )}
`

const WORDS: Readonly<Record<AttentionItem['code'], string>> = {
  errors: 'Failed requests',
  'domain-unverified': 'Domain not verified',
  'certificate-failing': 'Certificate missing',
  'no-start-page': 'No start page',
  'release-held': 'Newest not live',
  'rule-failing': 'Rule fails',
  'secret-missing': 'Secret missing',
  'backup-none': 'No backup',
  'backup-failed': 'Backup failed',
  'disk-low': 'Disk low',
  'key-suspended': 'Key suspended',
  'webhook-off': 'Webhook off',
}

const attentionItem = (item: AttentionItem, name: Content): Html => html`
  <li>
    ${item.severity === 'error' ? badge('Error', 'bad') : badge('Warning', 'warn')}
    ${' '}<a href=${item.href}>${item.message}</a>
    <div class="muted small">${name}${name !== null && ', '}${time(item.at)}</div>
  </li>
`

/** `2 things need attention`, and the way there. */
export const attentionBadge = (count: number, href = `#${ATTENTION_ID}`): Html | null =>
  count === 0
    ? null
    : html`<a href=${href}>${badge(count === 1 ? '1 thing needs attention' : `${count} things need attention`, 'warn')}</a>`
