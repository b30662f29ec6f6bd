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
  const text = decoded(bytes)
  // A shorter text cannot nest that deeply, because each bracket must be closed again.
  if (text.length > 2 * DEEPEST && nestingOf(text) > DEEPEST)
    throw new AppError('invalid', `The body is nested more than ${DEEPEST} levels deep`)
  try {
    return JSON.parse(text, ODD.test(text) ? checked : undefined)
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

/**
 * A key that needs care, plain or with escaped letters (`\u0041` to `\u007a`), or an escaped surrogate. Other texts are
 * parsed without checking each value.
 */
const ODD = /"(toString|valueOf)"|\\u(00[4-7]|[dD][89a-fA-F])/

function checked(key: string, value: unknown): unknown {
  if (!key.isWellFormed() || (typeof value === 'string' && !value.isWellFormed()))
    throw new AppError(
      'invalid',
      'The body has half of a surrogate pair, such as \\ud800, which is no character',
    )
  return printable(value)
}

/** The validator prints rejected values, and throws for an object whose `toString` is not a function. */
function printable(value: unknown): unknown {
  const isOdd = isRecord(value) && (Object.hasOwn(value, 'toString') || Object.hasOwn(value, 'valueOf'))
  return isOdd ? Object.defineProperty(value, Symbol.toPrimitive, { value: () => 'an object' }) : value
}
