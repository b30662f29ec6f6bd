import type { CdnView } from '../../src/modules/cdn/service.ts'
import { card } from '../components/card.ts'
import { details } from '../components/details.ts'
import { type Html, html } from '../components/html.ts'
import { time } from '../components/time.ts'

/** The CDN in front of the sites; nothing without one. */
export const cdnCard = ({ kind, pending, failing, lastPurge }: CdnView): Html | false =>
  kind !== null &&
  card(
    { id: 'cdn', title: 'CDN', about: 'It is told by itself which answers a change made old.' },
    details([
      ['Kind', html`<code>${kind}</code>`],
      ['To be told', pendingWords(pending, failing)],
      ['Last purge', time(lastPurge?.at ?? null, 'none yet')],
      ...(lastPurge === null ? [] : [lastAnswer(lastPurge)]),
    ]),
  )

const pendingWords = (pending: number, failing: number): string =>
  failing === 0 ? keyCount(pending) : `${keyCount(pending)}; ${failing} failed before and will be tried again`

const lastAnswer = ({ keys, status }: NonNullable<CdnView['lastPurge']>): [string, string] => [
  'Its answer',
  status === null
    ? `none, for ${keyCount(keys.length)}: it cannot be reached, or was too slow`
    : `${status}, for ${keyCount(keys.length)}`,
]

const keyCount = (count: number): string => `${count} ${count === 1 ? 'key' : 'keys'}`
