import { AppError, type ErrorDetail } from '../../domain/errors.ts'
import { isHeaderName } from '../../domain/names.ts'
import type { SecretBox } from '../../platform/secret-box.ts'
import type { HeaderConfig, ShownHeaderConfig } from './model.ts'

/** As it is stored: the values of `add` are sealed; `''` stands for a header that was declared without a value. */
export type StoredHeaderConfig = {
  add?: Record<string, string>
  forward?: string[]
  strip?: string[]
}

/** What those read who may not see a value. Sent back, it keeps what is stored. */
export const REDACTED = '[redacted]'

const MOST_HEADERS = 100
/** RFC 9110 §5.5: visible characters, spaces and tabs inside, bytes above ASCII. */
const VALUE = /^(?:[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?$/

type SealOptions = {
  secrets: SecretBox
  ruleId: string
  stored: StoredHeaderConfig | null
  /** `keep`: an empty value keeps what is stored, as in a push of rule files. `declare`: it stands for no value. */
  onEmpty: 'keep' | 'declare'
  /** What is stored may not be used any more: `REDACTED` and kept values are left out. */
  isDropped: boolean
}

/** What is to be stored for `given`. Throws `invalid` with a detail for each header that cannot be sent. */
export function sealHeaderConfig(given: HeaderConfig, options: SealOptions): StoredHeaderConfig {
  const names = Object.keys(given.add ?? {})
  const details = names.flatMap((name) => flawsOf(name, given.add?.[name] ?? '', names, options))
  if (names.length > MOST_HEADERS)
    details.push({ path: 'headerConfig.add', message: `At most ${MOST_HEADERS} headers` })
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

/** The values in clear, for sending and for those who may see them. Declared ones without a value are left out. */
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

/** As the record shows it: `[redacted]` for whoever may not see the values. */
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

/** Without the values, which leave the rule when its target moves. Null when there are none to drop. */
export function withoutValues(stored: StoredHeaderConfig): StoredHeaderConfig | null {
  const { add = {}, ...rest } = stored
  const kept = Object.entries(add).filter(([, sealed]) => sealed === '')
  return kept.length === Object.keys(add).length ? null : { ...rest, add: Object.fromEntries(kept) }
}

/** The same values sealed with the key that seals now. */
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

export function parseStored(json: string | null): StoredHeaderConfig | null {
  return json === null ? null : (JSON.parse(json) as StoredHeaderConfig)
}

/** A value belongs to one header of one rule: moved elsewhere it cannot be opened. */
const contextOf = (ruleId: string, name: string): string => `proxy_rules ${ruleId} ${name.toLowerCase()}`

function sealValue(name: string, value: string, options: SealOptions): string | null {
  if (value === REDACTED || (value === '' && options.onEmpty === 'keep')) {
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
  if (!isHeaderName(name)) return [{ path, message: 'This is no name of a header' }]
  const isDouble = all.some((other) => other !== name && other.toLowerCase() === name.toLowerCase())
  if (isDouble) return [{ path, message: 'Names count regardless of case: give each once' }]
  if (!VALUE.test(value))
    return [{ path, message: 'A value has no line breaks, controls or characters above U+00FF' }]
  if (value === REDACTED && !options.isDropped && keptValue(name, options) === null)
    return [{ path, message: `No value is stored that ${REDACTED} could keep` }]
  return []
}
