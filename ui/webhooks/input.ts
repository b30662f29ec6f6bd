import { EVENTS } from '../../src/modules/webhooks/events.ts'
import { type Form, marked } from '../frame/form.ts'

/** The name of an event's box. */
export const boxOf = (event: string): string => `event-${event}`

/** The fields of a hook's form as the API takes them. An empty secret or headers field changes nothing on the list page. */
export function hookInput(form: Form) {
  const events = form.isTicked(boxOf('*')) ? ['*'] : EVENTS.filter((event) => form.isTicked(boxOf(event)))
  if (events.length === 0) throw marked({ path: 'events', message: 'Choose at least one event.' })
  return {
    name: form.text('name').trim(),
    url: form.text('url').trim(),
    kind: form.text('kind'),
    events,
    headers: headersOf(form.text('headers')),
    isEnabled: form.isTicked('isEnabled'),
    ...(form.optional('secret') === undefined ? {} : { secret: form.text('secret') }),
  }
}

/** `Name: value`, one in a line. */
function headersOf(text: string): Record<string, string> {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '')
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':')
      if (colon < 1) throw marked({ path: 'headers', message: 'Write each header as Name: value.' })
      return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()]
    }),
  )
}
