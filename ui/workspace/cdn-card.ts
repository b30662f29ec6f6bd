import type { CdnView } from '../../src/modules/cdn/service.ts'
import { card } from '../components/card.ts'
import { details } from '../components/details.ts'
import { type Html, html } from '../components/html.ts'
import { time } from '../components/time.ts'

/** The CDN in front of the sites; nothing without one. */
export const cdnCard = ({ kind, pending, failing, lastPurge }: CdnView): Html | false =>
  kind !== null &&
  card(
    { id: 'cdn', title: 'CDN', about: 'What a change makes old is purged by itself, twice.' },
    details([
      ['Kind', html`<code>${kind}</code>`],
      ['Pending', failing === 0 ? String(pending) : `${pending}, of which ${failing} failed before`],
      ['Last purge', time(lastPurge?.at ?? null, 'none yet')],
      ...(lastPurge === null ? [] : [lastAnswer(lastPurge)]),
    ]),
  )

const lastAnswer = ({ keys, status }: NonNullable<CdnView['lastPurge']>): [string, string] => [
  'Its answer',
  `${status ?? 'none'}, for ${keys.length} ${keys.length === 1 ? 'key' : 'keys'}`,
]
