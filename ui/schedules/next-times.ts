import { card } from '../components/card.ts'
import { type Html, html } from '../components/html.ts'
import { type Column, table } from '../components/table.ts'
import { formatTime } from '../components/time.ts'

/** Of what is in the form: the times as ISO 8601, or what is wrong with it. */
export type NextTimes = { timezone: string; runs: readonly NextTime[]; flaw: string | null }
/** `local`: as the clocks of the zone show it. */
type NextTime = { iso: string; local: string }

/** The times that the code that fires gives. A script renews it while one types, and adds the reader's own zone. */
export const nextTimesCard = ({ timezone, runs, flaw }: NextTimes): Html =>
  card(
    { id: 'next-times', title: 'Next times' },
    html`
      <div class="stack" data-next-times>
        <p role="status">${flaw ?? summary(runs)}</p>
        ${runs.length > 0 && table<NextTime>({ caption: 'Next times', rows: runs, columns: columnsIn(timezone) })}
      </div>
    `,
  )

const summary = ([first]: readonly NextTime[]): string =>
  first === undefined
    ? 'Give a cron expression to see when it runs.'
    : `Runs next on ${formatTime(first.iso)}.`

const columnsIn = (timezone: string): Column<NextTime>[] => [
  { label: timezone, cell: ({ iso, local }) => html`<time datetime=${iso}>${local}</time>` },
  { label: 'UTC', cell: ({ iso }) => html`<time datetime=${iso} data-own-zone>${formatTime(iso)}</time>` },
]

/** `Fri, 20 Nov 2026, 06:00 GMT+1`. */
export const inZone = (iso: string, timeZone: string): string =>
  new Intl.DateTimeFormat('en-GB', {
    timeZone,
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
  }).format(new Date(iso))
