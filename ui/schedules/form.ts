import type { ScheduleView } from '../../src/modules/schedules/service.ts'
import { checkbox, field, fieldError, formError, selectField, textArea } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import type { Form } from '../frame/form.ts'
import type { Failed } from '../frame/project-request.ts'

export type RuleChoice = { id: string; name: string }

type FieldsProps = {
  rules: readonly RuleChoice[]
  /** A new one without it. */
  schedule?: ScheduleView
  /** What was typed, if the form is shown again. */
  typed: Readonly<Record<string, string>> | undefined
  failed: Failed | undefined
}

const CATCH_UP = [
  { value: 'none', label: 'Forget it' },
  { value: 'once', label: 'Run once when the server is back' },
]

/** The fields of a schedule. */
export function scheduleFields({ rules, schedule, typed, failed }: FieldsProps): Html {
  const error = (name: string) => fieldError(failed?.error, name)
  const value = (name: keyof ScheduleView & string) => typed?.[name] ?? textOf(schedule?.[name])
  const options = rules.map(({ id, name }) => ({ value: id, label: name }))
  return html`
    ${formError(failed?.error)}
    ${field({ name: 'name', label: 'Name', verbatim: true, value: value('name'), error: error('name'), maxlength: 100, hint: 'Letters, digits, _ and -.' })}
    ${selectField({ name: 'ruleId', label: 'Rule', value: value('ruleId'), options, error: error('ruleId'), hint: 'A pipeline whose path has no *.' })}
    ${field({
      name: 'cron',
      label: 'When',
      verbatim: true,
      value: value('cron'),
      error: error('cron'),
      hint: 'Minute, hour, day of month, month, day of week, such as 0 6 * * 1-5 for six in the morning on weekdays; or @hourly, @daily, @weekly, @monthly, @yearly.',
    })}
    ${field({ name: 'timezone', label: 'Time zone', verbatim: true, value: value('timezone') ?? 'UTC', error: error('timezone'), hint: 'Such as Europe/Berlin.', list: 'time-zones' })}
    <datalist id="time-zones">${zoneNames().map((name) => html`<option value=${name}></option>`)}</datalist>
    ${selectField({ name: 'catchUp', label: 'A time that passes while the server is down', value: value('catchUp') ?? 'none', options: CATCH_UP, error: error('catchUp') })}
    ${textArea({ name: 'description', label: 'Description', required: false, value: value('description'), error: error('description') })}
    ${checkbox({ name: 'isEnabled', label: 'Turned on', checked: typed === undefined ? (schedule?.isEnabled ?? true) : typed['isEnabled'] === 'true' })}
  `
}

const zoneNames = (): string[] => ['UTC', ...Intl.supportedValuesOf('timeZone')]

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** As the API takes it. */
export const scheduleInput = (form: Form) => ({
  name: form.text('name').trim(),
  ruleId: form.text('ruleId'),
  cron: form.text('cron').trim(),
  timezone: form.text('timezone').trim() || 'UTC',
  catchUp: form.text('catchUp'),
  description: form.optional('description') ?? null,
  isEnabled: form.isTicked('isEnabled'),
})
