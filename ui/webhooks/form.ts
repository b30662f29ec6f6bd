import { EVENTS, WORKSPACE_EVENTS } from '../../src/modules/webhooks/events.ts'
import { KINDS } from '../../src/modules/webhooks/model.ts'
import type { HookView } from '../../src/modules/webhooks/service.ts'
import { checkbox, field, fieldError, formError, selectField, textArea } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import type { Failed } from '../frame/project-request.ts'
import { boxOf } from './input.ts'

type FormProps = { isProject: boolean; hook?: HookView; failed: Failed | undefined }

/** The fields of a hook: a new one without `hook`. */
export function hookFields({ isProject, hook, failed }: FormProps): Html {
  const typed = failed?.values
  const error = (name: string) => fieldError(failed?.error, name)
  return html`
    ${formError(failed?.error)}
    ${field({ name: 'name', label: 'Name', required: false, value: typed?.['name'] ?? hook?.name, error: error('name'), maxlength: 100 })}
    ${field({
      name: 'url',
      label: 'Address',
      type: 'url',
      verbatim: true,
      value: typed?.['url'] ?? hook?.url,
      error: error('url'),
      hint: 'It starts with https://. It is a secret: whoever has it can post there.',
    })}
    ${selectField({ name: 'kind', label: 'Receiver', value: typed?.['kind'] ?? hook?.kind, error: error('kind'), options: KIND_OPTIONS })}
    ${eventBoxes(isProject, typed === undefined ? hook?.events : ticked(typed), error('events'))}
    ${textArea({
      name: 'headers',
      label: 'Own headers',
      required: false,
      hint: 'One in a line, such as Authorization: Bearer 123. Values are not shown again; [redacted] keeps one.',
      value: hook && headerLines(hook),
      error: headerError(failed),
    })}
    ${hook === undefined && field({ name: 'secret', label: 'Secret', required: false, verbatim: true, minlength: 16, maxlength: 256, error: error('secret'), hint: 'Requests are signed with it. Left empty, one is made.' })}
    ${checkbox({ name: 'isEnabled', label: 'Turned on', checked: typed === undefined ? (hook?.isEnabled ?? true) : typed['isEnabled'] === 'true' })}
  `
}

const KIND_LABELS: Record<(typeof KINDS)[number], string> = {
  json: 'A program (JSON)',
  slack: 'Slack',
  mattermost: 'Mattermost',
  discord: 'Discord',
  ntfy: 'ntfy',
}
const KIND_OPTIONS = KINDS.map((value) => ({ value, label: KIND_LABELS[value] }))

/**
 * Of `ping` every hook is told that is tested, and a project's of nothing of the workspace; what the API let somebody
 * choose stays.
 */
function eventBoxes(
  isProject: boolean,
  chosen: readonly string[] | undefined,
  error: string | undefined,
): Html {
  const events = EVENTS.filter(
    (event) => chosen?.includes(event) || (event !== 'ping' && !(isProject && WORKSPACE_EVENTS.has(event))),
  )
  const box = (event: string, label: string) =>
    checkbox({ name: boxOf(event), label, checked: chosen?.includes(event) ?? false })
  return html`
    <fieldset class="stack" aria-describedby=${error && 'events-error'}>
      <legend>Events</legend>
      ${error && html`<p class="field-error" id="events-error">${error}</p>`}
      ${box('*', 'All, also those to come')}
      ${events.map((event) => box(event, event))}
    </fieldset>
  `
}

const ticked = (typed: Readonly<Record<string, string>>): string[] =>
  ['*', ...EVENTS].filter((event) => typed[boxOf(event)] === 'true')

const headerLines = ({ headers }: HookView): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')

const headerError = (failed: Failed | undefined): string | undefined =>
  failed?.error.details?.find(({ path }) => path.startsWith('headers'))?.message
