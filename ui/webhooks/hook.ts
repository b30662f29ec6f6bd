import type { Paginated } from '../../src/domain/pagination.ts'
import type { DeliveryView } from '../../src/modules/webhooks/model.ts'
import type { HookView } from '../../src/modules/webhooks/service.ts'
import { button } from '../components/button.ts'
import { card } from '../components/card.ts'
import { confirmDialog } from '../components/confirm.ts'
import { hidden } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { type Notice, notice } from '../components/notice.ts'
import { pagination } from '../components/pagination.ts'
import { type Column, table } from '../components/table.ts'
import { time } from '../components/time.ts'
import type { Failed } from '../frame/project-request.ts'
import { hookFields } from './form.ts'
import { offBadge, secretCard } from './hooks.ts'
import type { Place } from './place.ts'
import { deliveryBadge } from './state.ts'

type HookPageProps = {
  place: Place
  hook: HookView
  deliveries: Paginated<DeliveryView>
  secret?: string | undefined
  failed?: Failed | undefined
  notices: readonly Notice[]
}

/** One hook. Sends `intent=change` with the fields of `hookFields`, or `test`, `rotate` or `delete`. */
export const hookPage = (props: HookPageProps): Html => {
  const { place, hook, secret, failed, notices } = props
  return place.frame(
    { title: hook.name, crumbs: [{ label: 'Webhooks', href: place.href }], notices },
    html`
      ${failed !== undefined && failed.intent !== 'change' && notice({ tone: 'bad', message: failed.error.message, live: true })}
      ${secret !== undefined && secretCard(hook.name, secret)}
      ${deliveriesCard(props)}
      ${card(
        { id: 'settings', title: 'Settings', aside: offBadge(hook) },
        html`
          <form method="post" class="stack narrow">
            ${hidden('intent', 'change')}
            ${hookFields({ isProject: place.isProject, hook, failed: failed?.intent === 'change' ? failed : undefined })}
            <div>${button({ label: 'Save' })}</div>
          </form>
        `,
      )}
      ${card({ id: 'more', title: 'Secret and removal' }, html`<div class="actions">${rotate()} ${remove(hook)}</div>`)}
    `,
  )
}

const deliveriesCard = ({ place, hook, deliveries }: HookPageProps): Html =>
  card(
    {
      id: 'deliveries',
      title: 'Deliveries',
      about: 'Of the last 30 days, at most 1000.',
      aside:
        hook.isEnabled &&
        html`<form method="post">${hidden('intent', 'test')}${button({ label: 'Send a test', kind: 'secondary' })}</form>`,
    },
    html`
      ${
        deliveries.pagination.total === 0
          ? html`<p class="muted">Nothing was sent yet.</p>`
          : table<DeliveryView>({
              caption: 'Deliveries',
              rows: deliveries.data,
              columns: columns(`${place.href}/${hook.id}`),
            })
      }
      ${pagination({ ...deliveries.pagination, hrefOf: (page) => `${place.href}/${hook.id}?page=${page}#deliveries` })}
    `,
  )

const columns = (href: string): Column<DeliveryView>[] => [
  {
    label: 'Event',
    cell: ({ id, event }) => html`<a href=${`${href}/deliveries/${id}`}>${event}</a>`,
  },
  { label: 'State', cell: ({ status }) => deliveryBadge(status) },
  { label: 'Answer', cell: ({ tries }) => tries.at(-1)?.status ?? tries.at(-1)?.error ?? '' },
  { label: 'Tries', align: 'end', cell: ({ tries }) => tries.length },
  { label: 'When', cell: ({ createdAt }) => time(createdAt) },
]

const rotate = (): Html =>
  confirmDialog(
    {
      id: 'rotate',
      opener: 'New secret',
      openerKind: 'secondary',
      title: 'Make a new secret?',
      text: 'The receiver refuses the signatures until it knows the new one.',
      confirm: 'Make a new secret',
    },
    hidden('intent', 'rotate'),
  )

const remove = ({ name }: HookView): Html =>
  confirmDialog(
    {
      id: 'delete',
      opener: 'Delete',
      openerKind: 'danger',
      accessibleName: `Delete ${name}`,
      title: `Delete ${name}?`,
      text: 'What waits is not sent any more, and the history goes too.',
      confirm: 'Delete the webhook',
    },
    hidden('intent', 'delete'),
  )
