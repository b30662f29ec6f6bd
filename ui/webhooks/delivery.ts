import type { WholeDelivery } from '../../src/modules/webhooks/model.ts'
import type { HookView } from '../../src/modules/webhooks/service.ts'
import { button } from '../components/button.ts'
import { card } from '../components/card.ts'
import { copyable } from '../components/copyable.ts'
import { details } from '../components/details.ts'
import { hidden } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { type Notice, notice } from '../components/notice.ts'
import { time } from '../components/time.ts'
import type { Failed } from '../frame/project-request.ts'
import type { Place } from './place.ts'
import { deliveryBadge } from './state.ts'

type DeliveryPageProps = {
  place: Place
  hook: HookView
  delivery: WholeDelivery
  failed?: Failed | undefined
  notices: readonly Notice[]
}

/** One delivery with its request and answers. Sends `intent=resend`. */
export const deliveryPage = ({ place, hook, delivery, failed, notices }: DeliveryPageProps): Html =>
  place.frame(
    {
      title: delivery.event,
      crumbs: [
        { label: 'Webhooks', href: place.href },
        { label: hook.name, href: `${place.href}/${hook.id}` },
      ],
      notices,
    },
    html`
      ${failed && notice({ tone: 'bad', message: failed.error.message, live: true })}
      ${card(
        {
          id: 'state',
          title: 'State',
          aside:
            hook.isEnabled &&
            html`<form method="post">${hidden('intent', 'resend')}${button({ label: 'Send again', kind: 'secondary' })}</form>`,
        },
        details([
          ['State', deliveryBadge(delivery.status)],
          ['Happened', time(delivery.createdAt)],
          ['Next try', delivery.nextTryAt && time(delivery.nextTryAt)],
          ['Id', html`<code>${delivery.id}</code>`],
        ]),
      )}
      ${card(
        { id: 'request', title: 'Request' },
        html`
          ${copyable({ label: 'Headers', text: headerText(delivery) })}
          ${copyable({ label: 'Body', text: delivery.request.body })}
        `,
      )}
      ${delivery.tries.map(tryCard)}
    `,
  )

const headerText = ({ request }: WholeDelivery): string =>
  Object.entries(request.headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')

const tryCard = (
  { at, status, durationMs, error, response }: WholeDelivery['tries'][number],
  i: number,
): Html =>
  card(
    { id: `try-${i + 1}`, title: `Try ${i + 1}` },
    html`
      ${details([
        ['When', time(at)],
        ['Answer', status],
        ['Took', `${durationMs} ms`],
        ['Error', error],
      ])}
      ${response && copyable({ label: 'Start of the answer', text: response })}
    `,
  )
