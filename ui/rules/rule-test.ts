import type { Explained } from '../../src/modules/explain/service.ts'
import { badge } from '../components/badge.ts'
import { button } from '../components/button.ts'
import { card } from '../components/card.ts'
import { details } from '../components/details.ts'
import { type FormError, field, fieldError, formError, selectField, textArea } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { type ProjectPageBase, projectFrame } from '../frame/project-frame.ts'
import type { RuleValues } from './rule-values.ts'
import { ruleHref, rulesHref } from './rule-words.ts'

export type RuleTestPageProps = ProjectPageBase & {
  aliases: readonly { id: string; name: string }[]
  values: RuleValues
  explained?: Explained
  error?: FormError | undefined
}

/** Shows what would answer a request. Sends `alias` or `host`, `method`, `path`, `headers` and `as`. Stores nothing. */
export const ruleTestPage = (props: RuleTestPageProps): Html =>
  projectFrame(
    props,
    {
      tab: 'rules',
      title: 'Test a rule',
      crumbs: [{ label: 'Rules', href: rulesHref(props.project.id) }],
      about: html`
        <p class="muted">
          Which rule matches a request, and why. The request is not sent: no server is called and no pipeline runs.
        </p>
      `,
    },
    html`${props.explained !== undefined && result(props.project.id, props.explained)} ${form(props)}`,
  )

const of = ({ values, error }: RuleTestPageProps, name: string) => ({
  name,
  value: values[name],
  error: fieldError(error, name),
})

const form = (props: RuleTestPageProps): Html =>
  card(
    { id: 'request', title: 'Request' },
    html`
      <form method="post" class="stack">
        ${formError(props.error)}
        <div class="inline-form">
          ${selectField({
            ...of(props, 'alias'),
            label: 'Alias',
            hint: props.aliases.length === 0 ? 'Publish to an alias first, or enter a host.' : undefined,
            options: [
              ...(props.aliases.length === 0 ? [{ value: '', label: 'No alias yet' }] : []),
              ...props.aliases.map(({ id, name }) => ({ value: id, label: name })),
            ],
          })}
          ${field({
            ...of(props, 'host'),
            label: 'Or another host',
            hint: 'A domain, or the host of a deployment.',
            required: false,
            isPlain: true,
            verbatim: true,
          })}
        </div>
        <div class="columns">
          ${field({ ...of(props, 'method'), label: 'Method', verbatim: true })}
          ${field({ ...of(props, 'path'), label: 'Path', placeholder: '/api/users?page=2', verbatim: true })}
          ${selectField({
            ...of(props, 'as'),
            label: 'Visitor',
            options: [
              { value: 'anonymous', label: 'Not signed in' },
              { value: 'me', label: `Signed in as ${props.user.email}` },
            ],
          })}
        </div>
        ${textArea({
          ...of(props, 'headers'),
          label: 'Headers',
          hint: 'One per line, as name: value. Accept is text/html unless you set it.',
          required: false,
        })}
        <div>${button({ label: 'Test' })}</div>
      </form>
    `,
  )

const OUTCOMES: Readonly<Record<string, string>> = {
  answer: 'svc answers itself',
  forward: 'A rule forwards it',
  pipeline: 'A pipeline answers',
  service: 'This path belongs to svc',
  nothing: 'Nothing answers',
}

function result(projectId: string, { url, method, steps, outcome }: Explained): Html {
  return card(
    {
      id: 'trace',
      title: 'What happens',
      about: html`<code>${method} ${url}</code>`,
    },
    html`
      <div role="status">
        ${details([
          ['Result', OUTCOMES[outcome.kind] ?? outcome.kind],
          ['Status', outcome.status === null ? false : String(outcome.status)],
          ['Target', outcome.target !== null && html`<code>${outcome.target}</code>`],
          [
            'Rule',
            outcome.ruleId !== null &&
              html`<a href=${ruleHref(projectId, outcome.ruleId)}>${takenBy(steps)}</a>`,
          ],
        ])}
      </div>
      <h3>Steps</h3>
      <ol class="steps" aria-label="What is decided, in order">
        ${steps.map((step) => html`<li>${stepOf(projectId, step)}</li>`)}
      </ol>
    `,
  )
}

const takenBy = (steps: Explained['steps']): string =>
  String(steps.findLast(({ detail }) => detail?.['matched'] === true)?.detail?.['pathPattern'] ?? 'this one')

const STEP_WORDS: Readonly<Record<string, string>> = {
  host: 'Host',
  path: 'Path',
  project: 'Project',
  traffic: 'Traffic',
  rule: 'Rule',
  api: 'API',
  visibility: 'Visibility',
  gate: 'Membership',
  forward: 'Forwarded',
  pipeline: 'Pipeline',
  accept: 'Accept',
  file: 'File',
  answer: 'Answer',
}

function stepOf(projectId: string, { step, text, detail }: Explained['steps'][number]): Html {
  const ruleId = step === 'rule' && typeof detail?.['id'] === 'string' ? detail['id'] : null
  const isTaken = detail?.['matched'] === true
  return html`
    <h3>${STEP_WORDS[step] ?? step} ${isTaken && badge('Matches', 'good')}</h3>
    <p class=${ruleId !== null && !isTaken ? 'muted' : undefined}>
      ${ruleId === null ? text : html`<a href=${ruleHref(projectId, ruleId)}>${text}</a>`}
    </p>
  `
}
