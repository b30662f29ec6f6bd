import type { CheckResult } from '../../src/modules/releases/model.ts'
import { badge } from '../components/badge.ts'
import { type Html, html } from '../components/html.ts'
import { table } from '../components/table.ts'

/** What each check of a release saw. */
export const checkResults = (checks: readonly CheckResult[]): Html =>
  table({
    caption: 'Checks of this release',
    columns: [
      { label: 'Check', cell: ({ name }) => name },
      { label: 'Path', cell: ({ path }) => html`<code>${path}</code>` },
      { label: 'Result', cell: ({ ok }) => verdict(ok) },
      { label: 'What it saw', cell: ({ message }) => message ?? '' },
    ],
    rows: checks,
  })

const verdict = (ok: boolean | null): Html =>
  ok === null ? badge('not run') : ok ? badge('passed', 'good') : badge('failed', 'bad')
