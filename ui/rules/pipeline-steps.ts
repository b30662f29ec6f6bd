import type { RuleView } from '../../src/modules/proxy-rules/service.ts'
import {
  type PipelineConfig,
  type PipelineStep,
  type StepList,
  stepIdOf,
} from '../../src/pipelines/language/model.ts'
import { badge } from '../components/badge.ts'
import { card } from '../components/card.ts'
import { details } from '../components/details.ts'
import { type Html, html } from '../components/html.ts'

/** A pipeline to read from top to bottom: who may call it, its steps, and what runs after the response. */
export function pipelineCards(rule: Pick<RuleView, 'pipelineConfig'>): Html {
  // The configuration was checked when it was saved.
  const config = rule.pipelineConfig as PipelineConfig | null
  const { name, description, validators = [], steps = [], postSteps = [] } = config ?? {}
  return html`
    ${card(
      {
        id: 'pipeline',
        title: name === undefined || name === '' ? 'Pipeline' : name,
        about:
          description ?? 'Its steps run in this order. The first response step that runs gives the response.',
      },
      html`
        ${validators.length > 0 && validatorList(validators)}
        ${
          steps.length === 0
            ? html`<p class="muted">This pipeline has no steps, so its response is always empty.</p>`
            : stepList('Steps', 'steps', steps)
        }
        ${
          !steps.some(({ handlerType }) => handlerType === 'response_handler') &&
          html`<p class="muted">No step sends a response, so the output of the last step is sent as JSON.</p>`
        }
      `,
    )}
    ${
      postSteps.length > 0 &&
      card(
        {
          id: 'post-steps',
          title: 'After the response',
          about: 'These steps run after the visitor has the response.',
        },
        stepList('Steps after the response', 'postSteps', postSteps),
      )
    }
  `
}

const validatorList = (validators: NonNullable<PipelineConfig['validators']>): Html => html`
  <h3>Checks first</h3>
  ${details(validators.map(({ type, config }) => [VALIDATOR_WORDS[type] ?? type, configText(config ?? {})]))}
`

const VALIDATOR_WORDS: Readonly<Record<string, string>> = {
  auth_required: 'Signed in',
  rate_limit: 'Rate limit',
}

const configText = (config: Readonly<Record<string, unknown>>): string =>
  Object.entries(config)
    .map(([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ') || 'yes'

const stepList = (label: string, list: StepList, steps: readonly PipelineStep[]): Html => html`
  <ol class="steps" aria-label=${label}>
    ${steps.map((step, i) => html`<li>${stepOf(step, stepIdOf(step, list, i))}</li>`)}
  </ol>
`

function stepOf({ name, handlerType, config = {}, isEnabled }: PipelineStep, id: string): Html {
  const { condition, ...rest } = config
  return html`
    <h3>
      ${name || id} ${badge(handlerType, 'info')} ${isEnabled === false && badge('Disabled', 'warn')}
    </h3>
    <div class="stack">
      ${details([
        ['Output', handlerType !== 'response_handler' && html`<code>steps.${id}</code>`],
        ['Only if', condition !== undefined && codeOf('Condition', condition)],
        ...Object.entries(rest).map(([key, value]) => [key, codeOf(key, value)] as const),
      ])}
    </div>
  `
}

/** A value as code: short values inline, long ones in a block that scrolls. */
export function codeOf(label: string, value: unknown): Html {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  if (text === undefined) return html`<span class="muted">nothing</span>`
  if (text.length <= 80 && !text.includes('\n')) return html`<code>${text}</code>`
  return html`<pre class="preview" tabindex="0" role="group" aria-label=${label}><code>${text}</code></pre>`
}
