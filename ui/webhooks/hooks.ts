import type { HookView } from '../../src/modules/webhooks/service.ts'
import { badge } from '../components/badge.ts'
import { button } from '../components/button.ts'
import { card } from '../components/card.ts'
import { copyable } from '../components/copyable.ts'
import { emptyState } from '../components/empty-state.ts'
import { hidden } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { type Notice, notice } from '../components/notice.ts'
import { type Column, table } from '../components/table.ts'
import { time } from '../components/time.ts'
import type { Failed } from '../frame/project-request.ts'
import { hookFields } from './form.ts'
import type { Place } from './place.ts'
import { deliveryBadge } from './state.ts'

type HooksPageProps = {
  place: Place
  hooks: readonly HookView[]
  /** Just made. Only this response contains the secret. */
  created?: { name: string; secret: string } | undefined
  failed?: Failed | undefined
  notices: readonly Notice[]
}

/** The hooks of a place. Sends `intent=create` with the fields of `hookFields`. */
export const hooksPage = ({ place, hooks, created, failed, notices }: HooksPageProps): Html =>
  place.frame(
    { title: 'Webhooks', crumbs: [], notices },
    html`
      ${created && secretCard(created.name, created.secret)}
      ${
        hooks.length === 0
          ? emptyState({
              icon: 'rules',
              title: 'No webhooks yet',
              text: 'A webhook tells a program or a chat what happens here.',
            })
          : table<HookView>({ caption: 'Webhooks', rows: hooks, columns: columns(place) })
      }
      ${card(
        { id: 'new-webhook', title: 'New webhook' },
        html`
          <form method="post" class="stack narrow">
            ${hidden('intent', 'create')} ${hookFields({ isProject: place.isProject, failed })}
            <div>${button({ label: 'Create webhook' })}</div>
          </form>
        `,
      )}
    `,
  )

export const secretCard = (name: string, secret: string): Html =>
  card(
    { id: 'secret', title: `The secret of “${name}”` },
    html`
      <div class="stack">
        ${notice({ tone: 'warn', live: true, message: 'Copy the secret now. It is not shown again.' })}
        ${copyable({ label: 'Secret', text: secret })}
      </div>
    `,
  )

const columns = (place: Place): Column<HookView>[] => [
  {
    label: 'Webhook',
    cell: (hook) => html`
      <a href=${`${place.href}/${hook.id}`}><strong>${hook.name}</strong></a> ${offBadge(hook)}
      <div class="muted small">${hostOf(hook.url)}, ${hook.kind}</div>
    `,
  },
  { label: 'Events', cell: (hook) => (hook.events[0] === '*' ? 'All' : hook.events.join(', ')) },
  {
    label: 'Last delivery',
    cell: ({ lastDelivery }) =>
      lastDelivery === null
        ? time(null)
        : html`${deliveryBadge(lastDelivery.status)} ${time(lastDelivery.createdAt)}`,
  },
]

/** The server's key may not open the address. */
const hostOf = (url: string): string =>
  URL.canParse(url) ? new URL(url).host : 'an address that cannot be read'

export const offBadge = ({ isEnabled, disabledReason }: HookView): Html | false =>
  !isEnabled && badge(disabledReason === 'gone' ? 'Off: the receiver is gone' : 'Off', 'warn')
