import { selectField } from './field.ts'
import { type Html, html } from './html.ts'
import type { Notice } from './notice.ts'
import { time } from './time.ts'

/** An API key as far as it has to be recognised. */
export type NamedKey = { id: string; name: string; prefix: string; lastUsedAt: string | null }

const MAX_NAMED = 5

const named = ({ name, prefix, lastUsedAt }: NamedKey): Html =>
  html`<strong>${name}</strong> (<code>${prefix}…</code>, last used ${time(lastUsedAt, 'never')})`

/** Says to administrators that keys wait for them. Empty if none does. */
export function suspendedKeysNotice(keys: readonly NamedKey[]): Notice[] {
  if (keys.length === 0) return []
  const more = keys.length - MAX_NAMED
  const [what, todo] =
    keys.length === 1
      ? [
          'An API key is suspended, because the person who made it is no admin any more, suspended or gone',
          'it',
        ]
      : [
          `${keys.length} API keys are suspended, because the people who made them are no admins any more, suspended or gone`,
          'them',
        ]
  const message = html`
    ${what}: ${joined(keys.slice(0, MAX_NAMED).map(named))}${more > 0 && ` and ${more} more`}. Take ${todo} over or revoke
    ${` ${todo} under `}<a href="/keys">API keys</a>.
  `
  return [{ tone: 'warn', message }]
}

const joined = (parts: readonly Html[]): Html[] => parts.map((part, i) => (i === 0 ? part : html`, ${part}`))

type KeyFateProps = {
  /** Of the field, unique on the page. */
  id: string
  keys: readonly NamedKey[]
  /** Whether the person who is asked is the one who made them. */
  isSelf: boolean
  label: string
}

/** Asks what becomes of the keys of somebody who may not make them any more. Sends `keys`. Null if there are none. */
export const keyFate = ({ id, keys, isSelf, label }: KeyFateProps): Html | null =>
  keys.length === 0
    ? null
    : html`
        <p>${keys.length === 1 ? 'An API key is theirs' : `${keys.length} API keys are theirs`}:</p>
        <ul>${keys.map((key) => html`<li>${named(key)}</li>`)}</ul>
        ${selectField({ id, name: 'keys', label, options: isSelf ? [SUSPEND] : [SUSPEND, TAKE_OVER] })}
      `

const SUSPEND = {
  value: 'suspend',
  label: 'Suspend them: what uses them stops until an admin takes them over',
}
const TAKE_OVER = { value: 'take-over', label: 'Take them over: they are yours and go on working' }
