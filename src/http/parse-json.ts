import { AppError } from '../domain/errors.ts'
import { nestingOf } from '../domain/field-types.ts'
import { isRecord } from '../domain/is-record.ts'

/** Maximum nesting of a body. */
const DEEPEST = 200
const UTF8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Throws `invalid` if the bytes are not JSON in UTF-8, or nest so deeply that walking them would overflow the stack.
 */
export function parseJson(bytes: Uint8Array): unknown {
  return parse(bytes, ODD_KEY, printable)
}

/** The same for texts that are stored: half of a surrogate pair would become another character in the database. */
export function parseStorableJson(bytes: Uint8Array): unknown {
  return parse(bytes, ODD_KEY_OR_SURROGATE, (key, value) => {
    refuseHalves(key)
    if (typeof value === 'string') refuseHalves(value)
    return printable(key, value)
  })
}

type Reviver = (key: string, value: unknown) => unknown

/** Only a text in which `odd` is found is parsed with the reviver, which is slow. */
function parse(bytes: Uint8Array, odd: RegExp, reviver: Reviver): unknown {
  const text = decoded(bytes)
  // A shorter text cannot nest that deeply, because each bracket must be closed again.
  if (text.length > 2 * DEEPEST && nestingOf(text) > DEEPEST)
    throw new AppError('invalid', `The body is nested more than ${DEEPEST} levels deep`)
  try {
    return JSON.parse(text, odd.test(text) ? reviver : undefined)
  } catch (error) {
    throw error instanceof AppError ? error : notJson()
  }
}

function decoded(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes)
  } catch {
    throw notJson()
  }
}

const notJson = (): AppError => new AppError('invalid', 'The body is not valid JSON in UTF-8')

/** Such a key, plain or with escaped letters (`\u0041` to `\u007a`). */
const ODD_KEY = /"(toString|valueOf)"|\\u00[4-7]/
const ODD_KEY_OR_SURROGATE = /"(toString|valueOf)"|\\u(00[4-7]|[dD][89a-fA-F])/

/** The validator prints rejected values, and throws for an object whose `toString` is not a function. */
function printable(_key: string, value: unknown): unknown {
  const isOdd = isRecord(value) && (Object.hasOwn(value, 'toString') || Object.hasOwn(value, 'valueOf'))
  return isOdd ? Object.defineProperty(value, Symbol.toPrimitive, { value: () => 'an object' }) : value
}

function refuseHalves(text: string): void {
  if (text.isWellFormed()) return
  const message = 'The body has half of a surrogate pair, such as \\ud800, which is no character'
  throw new AppError('invalid', message)
}
