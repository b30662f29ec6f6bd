import { flawOf } from './text-formats.ts'

type Described = {
  error?: unknown
  format?: unknown
  type?: unknown
  const?: unknown
  anyOf?: readonly Described[]
  properties?: Readonly<Record<string, unknown>>
}

/** What to send in place of a value that a schema refuses. The schema's own message (`error`) takes precedence. */
export function expectation(schema: unknown, message: string, value?: unknown): string {
  const described = (schema ?? {}) as Described
  const flaw = flawOf(described.format, value)
  if (flaw !== null) return flaw
  if (typeof described.error === 'string') return described.error
  const words = UNHELPFUL.test(message) ? inWords(described) : null
  return words === null ? message : `Must be ${words}`
}

/** Messages of the validator that only say the name of a type. */
const UNHELPFUL = /^Expected (required property|union value|[a-z]+)$/

const NAMES: Readonly<Record<string, string | undefined>> = {
  array: 'a list',
  boolean: 'true or false',
  integer: 'a whole number',
  null: 'null',
  number: 'a number',
  string: 'a text',
}

function inWords({ type, const: constant, anyOf, properties }: Described): string | null {
  if (constant !== undefined) return String(constant)
  if (anyOf !== undefined) {
    const choices = anyOf.map(inWords)
    return choices.includes(null) ? null : choices.join(' or ')
  }
  const keys = Object.keys(properties ?? {})
  if (type === 'object') return keys.length === 0 ? 'an object' : `an object with ${keys.join(', ')}`
  return NAMES[String(type)] ?? null
}
