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
