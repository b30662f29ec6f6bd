import { button } from '../components/button.ts'
import { card } from '../components/card.ts'
import { hidden } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'

/** Makes the CDN forget a project. Sends `intent=purge`. */
export const purgeCard = (): Html =>
  card(
    {
      id: 'cdn',
      title: 'CDN',
      about: 'It forgets by itself what changes. Purge it when it still shows something old.',
    },
    html`
      <form method="post" class="actions">
        ${hidden('intent', 'purge')} ${button({ label: 'Purge the CDN', kind: 'secondary' })}
      </form>
    `,
  )
