import type { RunView } from '../../src/modules/runs/service.ts'
import { badge } from '../components/badge.ts'
import { formatCount } from '../components/chart.ts'
import { type Html, html } from '../components/html.ts'
import { type Column, table } from '../components/table.ts'
import { time } from '../components/time.ts'
import { rulesHref } from './rule-words.ts'

const runHref = (projectId: string, runId: string): string => rulesHref(projectId, `/runs/${runId}`)

/** The response status, coloured by the outcome of the run. */
export const outcomeBadge = ({ status }: Pick<RunView, 'status'>): Html =>
  badge(String(status), status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'good')

export const durationText = (ms: number): string =>
  ms < 10
    ? `${ms.toFixed(1)}\u00a0ms`
    : ms < 10_000
      ? `${formatCount(Math.round(ms))}\u00a0ms`
      : `${(ms / 1000).toFixed(1)}\u00a0s`

export const runRuleName = (run: Pick<RunView, 'ruleName' | 'pathPattern'>): string =>
  run.ruleName ?? run.pathPattern

export const runsTable = (projectId: string, rows: readonly RunView[]): Html =>
  table<RunView>({ caption: 'Runs', isDense: true, rows, columns: columnsOf(projectId) })

const columnsOf = (projectId: string): Column<RunView>[] => [
  {
    label: 'Request',
    cell: (run) => html`<a href=${runHref(projectId, run.id)}>${run.method} <code>${run.path}</code></a>`,
  },
  { label: 'Pipeline', cell: runRuleName },
  { label: 'Outcome', cell: outcomeBadge },
  {
    label: 'Failed at',
    cell: (run) =>
      run.failedStep === null
        ? ''
        : html`
            <span>
              <code>${run.failedStep}</code>
              ${run.phase === 'post_steps' && html`<span class="muted small"> after the response</span>`}
            </span>
          `,
  },
  {
    label: 'Took',
    align: 'end',
    cell: (run) => html`<span class="nowrap">${durationText(run.durationMs)}</span>`,
  },
  { label: 'When', align: 'end', cell: (run) => time(run.startedAt) },
]
