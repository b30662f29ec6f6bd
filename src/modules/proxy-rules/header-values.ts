import { AppError, type ErrorDetail } from '../../domain/errors.ts'
import { isRecord } from '../../domain/is-record.ts'
import { isHeaderName } from '../../domain/names.ts'
import type { SecretBox } from '../../platform/secret-box.ts'
import type { HeaderConfig, ShownHeaderConfig } from './model.ts'

/** As stored: the values of `add` are sealed; `''` stands for a header declared without a value. */
export type StoredHeaderConfig = {
  add?: Record<string, string>
  forward?: string[]
  strip?: string[]
}

/** Shown to those who may not see a value. Sent back, it keeps the stored value. */
export const REDACTED = '[redacted]'

const MAX_HEADERS = 100
/** RFC 9110 §5.5: visible characters, spaces and tabs inside, bytes above ASCII. */
const VALUE = /^(?:[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?$/

/** `keep`: an empty value keeps the stored one, as in a push of rule files. `declare`: it stands for no value. */
export type OnEmpty = 'keep' | 'declare'

type SealOptions = {
  secrets: SecretBox
  ruleId: string
  stored: StoredHeaderConfig | null
  onEmpty: OnEmpty
  /** The stored values must no longer be used: `REDACTED` and kept values are left out. */
  isDropped: boolean
}

/** What to store for `given`. Throws `invalid` with a detail for each header that cannot be sent. */
export function sealHeaderConfig(given: HeaderConfig, options: SealOptions): StoredHeaderConfig {
  const names = Object.keys(given.add ?? {})
  const details = names.flatMap((name) => flawsOf(name, given.add?.[name] ?? '', names, options))
  if (names.length > MAX_HEADERS)
    details.push({ path: 'headerConfig.add', message: `At most ${MAX_HEADERS} headers` })
  if (details[0] !== undefined)
    throw new AppError('invalid', `${details[0].path}: ${details[0].message}`, { details })
  const add = names.flatMap((name): [string, string][] => {
    const sealed = sealValue(name, given.add?.[name] ?? '', options)
    return sealed === null ? [] : [[name, sealed]]
  })
  return {
    ...(given.add === undefined ? {} : { add: Object.fromEntries(add) }),
    ...(given.forward === undefined ? {} : { forward: given.forward }),
    ...(given.strip === undefined ? {} : { strip: given.strip }),
  }
}

/** The values in clear, for requests and for those who may see them. Leaves out headers declared without a value. */
export function openHeaderValues(
  secrets: SecretBox,
  ruleId: string,
  stored: StoredHeaderConfig | null,
): Record<string, string> {
  const given = Object.entries(stored?.add ?? {}).filter(([, sealed]) => sealed !== '')
  return Object.fromEntries(
    given.map(([name, sealed]) => [name, secrets.open(sealed, contextOf(ruleId, name))]),
  )
}

/** As the record shows it: with `[redacted]` for those who may not see the values. */
export function showHeaderConfig(
  secrets: SecretBox,
  ruleId: string,
  stored: StoredHeaderConfig | null,
  maySee: boolean,
): ShownHeaderConfig | null {
  if (stored?.add === undefined) return stored
  const shown = Object.entries(stored.add).map(([name, sealed]) => {
    if (sealed === '') return [name, '']
    return [name, maySee ? secrets.open(sealed, contextOf(ruleId, name)) : REDACTED]
  })
  return { ...stored, add: Object.fromEntries(shown) }
}

/** Without the values, which a rule loses when its target moves. Null when there are none to drop. */
export function withoutValues(stored: StoredHeaderConfig): StoredHeaderConfig | null {
  const { add = {}, ...rest } = stored
  const kept = Object.entries(add).filter(([, sealed]) => sealed === '')
  return kept.length === Object.keys(add).length ? null : { ...rest, add: Object.fromEntries(kept) }
}

/** The same values sealed with the current key. */
export function resealHeaderConfig(
  from: SecretBox,
  to: SecretBox,
  ruleId: string,
  stored: StoredHeaderConfig,
): StoredHeaderConfig {
  if (stored.add === undefined) return stored
  const add = Object.entries(stored.add).map(([name, sealed]) => {
    const context = contextOf(ruleId, name)
    return [name, sealed === '' ? '' : to.seal(from.open(sealed, context), context)]
  })
  return { ...stored, add: Object.fromEntries(add) }
}

/** JSON with rules somewhere in it, as they are stored: their values sealed with the current key. */
export function resealRulesIn(secrets: SecretBox, json: string): string {
  const reseal = (_: string, value: unknown): unknown => {
    if (!isRecord(value)) return value
    const { id, headerConfig } = value
    if (typeof id !== 'string' || typeof headerConfig !== 'string') return value
    const stored = parseStored(headerConfig)
    return stored === null
      ? value
      : { ...value, headerConfig: JSON.stringify(resealHeaderConfig(secrets, secrets, id, stored)) }
  }
  return JSON.stringify(JSON.parse(json, reseal))
}

export function parseStored(json: string | null): StoredHeaderConfig | null {
  return json === null ? null : (JSON.parse(json) as StoredHeaderConfig)
}

/** A sealed value is bound to one header of one rule: it cannot be opened elsewhere. */
const contextOf = (ruleId: string, name: string): string => `proxy_rules ${ruleId} ${name.toLowerCase()}`

/** Whether the value stands for the stored one. */
export const isKept = (value: string, onEmpty: OnEmpty): boolean =>
  value === REDACTED || (value === '' && onEmpty === 'keep')

function sealValue(name: string, value: string, options: SealOptions): string | null {
  if (isKept(value, options.onEmpty)) {
    const kept = options.isDropped ? null : keptValue(name, options)
    return kept ?? (value === '' ? '' : null)
  }
  return value === '' ? '' : options.secrets.seal(value, contextOf(options.ruleId, name))
}

function keptValue(name: string, { stored }: SealOptions): string | null {
  const lower = name.toLowerCase()
  return Object.entries(stored?.add ?? {}).find(([known]) => known.toLowerCase() === lower)?.[1] ?? null
}

function flawsOf(name: string, value: string, all: string[], options: SealOptions): ErrorDetail[] {
  const path = `headerConfig.add.${name}`
  if (!isHeaderName(name)) return [{ path, message: 'This is not a valid header name' }]
  const isDouble = all.some((other) => other !== name && other.toLowerCase() === name.toLowerCase())
  if (isDouble) return [{ path, message: 'Header names are case-insensitive: use each name once' }]
  if (!VALUE.test(value))
    return [
      { path, message: 'A value must not have line breaks, control characters or characters above U+00FF' },
    ]
  if (value === REDACTED && !options.isDropped && keptValue(name, options) === null)
    return [{ path, message: `There is no stored value that ${REDACTED} could keep` }]
  return []
}
