import { isRecord } from '../../src/domain/is-record.ts'
import type { RunView } from '../../src/modules/runs/service.ts'
import type { StepTrace } from '../../src/pipelines/trace.ts'
import { badge } from '../components/badge.ts'
import { card } from '../components/card.ts'
import { details } from '../components/details.ts'
import { type Content, type Html, html } from '../components/html.ts'
import { time } from '../components/time.ts'
import { type ProjectPageBase, projectFrame } from '../frame/project-frame.ts'
import { codeOf } from './pipeline-steps.ts'
import { KEEP_STEPS, ruleHref, rulesHref } from './rule-words.ts'
import { durationText, outcomeBadge, runRuleName } from './runs-table.ts'

type RunPageProps = ProjectPageBase & {
  run: RunView
  /** False if the rule has been deleted since. */
  isRuleThere: boolean
}

/** One run of a pipeline. Its secrets were masked before it was stored. */
export const runPage = (props: RunPageProps): Html => {
  const { run, project } = props
  return projectFrame(
    props,
    {
      tab: 'rules',
      title: `${run.method} ${run.path}`,
      crumbs: [
        { label: 'Rules', href: rulesHref(project.id) },
        { label: 'Run log', href: rulesHref(project.id, '/runs') },
      ],
      about: html`<p>${outcomeBadge(run)} ${run.phase === 'post_steps' && badge('After the response', 'info')}</p>`,
    },
    html`${facts(props)} ${steps(props)}`,
  )
}

const ASKED_BY: Readonly<Record<RunView['trigger'], string>> = {
  request: 'A visitor',
  schedule: 'A schedule',
  mcp: 'A tool call',
}

const facts = ({ run, project, isRuleThere }: RunPageProps): Html =>
  card(
    { id: 'facts', title: 'The run' },
    details([
      [
        'Rule',
        isRuleThere
          ? html`<a href=${ruleHref(project.id, run.ruleId)}>${runRuleName(run)}</a>`
          : html`${runRuleName(run)} <span class="muted">deleted</span>`,
      ],
      ['Asked by', ASKED_BY[run.trigger]],
      ['When', time(run.startedAt)],
      ['Took', durationText(run.durationMs)],
      ['Failed at', run.failedStep !== null && html`<code>${run.failedStep}</code>`],
      ['Because', run.error],
    ]),
  )

function steps({ run, project, isRuleThere }: RunPageProps): Html {
  const traces = tracesOf(run.steps)
  if (traces === null) {
    const rule = isRuleThere ? html`<a href=${ruleHref(project.id, run.ruleId)}>the rule</a>` : 'the rule'
    return card(
      { id: 'steps', title: 'Steps' },
      html`
        <p class="muted">
          The input and output of the steps were not kept. To keep them for the next runs, edit ${rule} and turn
          on “${KEEP_STEPS}”.
        </p>
      `,
    )
  }
  return card(
    { id: 'steps', title: 'Steps', about: traces.some(({ redacted }) => redacted) ? KEPT_BACK : MASKED },
    html`<ol class="steps" aria-label="Steps">${traces.map((trace) => html`<li>${stepOf(trace)}</li>`)}</ol>`,
  )
}

const MASKED = 'Secrets are masked. Long texts are shortened.'
const KEPT_BACK =
  'The pipeline uses a secret, so inputs and outputs are only for admins of the project: what a secret was made into cannot be masked.'

/** The log was written by this service, but perhaps by an older version. */
const tracesOf = (stored: unknown): readonly StepTrace[] | null =>
  Array.isArray(stored) ? (stored as StepTrace[]) : null

const stepOf = (trace: StepTrace): Html => html`
  <h3>${trace.id} ${badge(trace.handler, 'info')} ${stateOf(trace)}</h3>
  <div class="stack">
    ${details([
      ['Took', !trace.skipped && durationText(trace.durationMs)],
      ...inputOf(trace),
      [
        'Output',
        !trace.redacted &&
          !trace.skipped &&
          trace.error === null &&
          codeOf(`Output of ${trace.id}`, trace.output),
      ],
      ['Error', trace.error],
    ])}
  </div>
`

/** Shows a configuration key by key, so that code in it keeps its line breaks. */
function inputOf({ id, skipped, redacted, input }: StepTrace): (readonly [label: string, value: Content])[] {
  if (skipped || redacted) return []
  if (!isRecord(input)) return [['Input', codeOf(`Input of ${id}`, input)]]
  return Object.entries(input).map(([key, value]) => [
    `Input: ${key}`,
    codeOf(`Input ${key} of ${id}`, value),
  ])
}

function stateOf({ skipped, error }: StepTrace): Html {
  if (skipped) return badge('Skipped')
  return error === null ? badge('Done', 'good') : badge('Failed', 'bad')
}
