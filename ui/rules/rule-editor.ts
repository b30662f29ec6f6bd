import { RULE_EXAMPLES } from '../../src/rules/rule-examples.ts'
import { button } from '../components/button.ts'
import { type FormError, selectField } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { projectHref } from '../frame/project-frame.ts'
import type { RuleValues } from './rule-values.ts'

type RuleEditorProps = { projectId: string; values: RuleValues; error: FormError | undefined }

const FEWEST_ROWS = 20
const MOST_ROWS = 400

/**
 * The text of a rule with its errors at their lines. A script asks for them while somebody types; without one they come when
 * the form is sent. Sends `yaml`, and `insert=true` with `example`.
 */
export function ruleEditor({ projectId, values, error }: RuleEditorProps): Html {
  const text = values['yaml'] ?? ''
  const errors = (error?.details ?? []).filter(({ path }) => path === 'yaml').map(({ message }) => message)
  const wrong = new Set(errors.map((message) => Number(/^Line (\d+):/.exec(message)?.[1] ?? 0)))
  const count = Math.max(1, text.split('\n').length)
  return html`
    <div class="inline-form">
      ${selectField({
        name: 'example',
        label: 'Start from an example',
        value: values['example'],
        options: RULE_EXAMPLES.map(({ id, title }) => ({ value: id, label: title })),
      })}
      ${button({ label: 'Insert', kind: 'secondary', name: 'insert', value: 'true', skipsChecks: true })}
    </div>
    <div class="field">
      <label for="yaml">Rule (YAML)</label>
      <ul class=${errors.length > 0 ? 'field-error' : 'yaml-errors'} id="yaml-errors" aria-live="polite">${errors.map((message) => html`<li>${message}</li>`)}</ul>
      <div class="yaml-editor">
        <pre class="yaml-lines" aria-hidden="true">${Array.from({ length: count }, (_, at) => lineNumber(at + 1, wrong))}</pre>
        <textarea
          id="yaml"
          name="yaml"
          rows=${Math.min(MOST_ROWS, Math.max(FEWEST_ROWS, count + 1))}
          wrap="off"
          autocomplete="off"
          autocapitalize="none"
          spellcheck="false"
          aria-describedby="yaml-errors"
          aria-invalid=${errors.length > 0 ? 'true' : undefined}
          data-validate=${`/api${projectHref(projectId, '/rules/validate')}`}
        >${text}</textarea>
      </div>
    </div>
  `
}

const lineNumber = (line: number, wrong: ReadonlySet<number>): Html =>
  html`<span class=${wrong.has(line) ? 'wrong' : undefined}>${`${line}\n`}</span>`
