import { AppError } from '../domain/errors.ts'
import { nestingOf } from '../domain/field-types.ts'
import { isRecord } from '../domain/is-record.ts'

/** Levels of a body. */
const DEEPEST = 200
const UTF8 = new TextDecoder('utf-8', { fatal: true })

/** Throws `invalid` for what is no JSON in UTF-8, or nests so deep that whoever walks through it runs out of stack. */
export function parseJson(bytes: Uint8Array): unknown {
  const text = decoded(bytes)
  // So many brackets have to be closed again.
  if (text.length > 2 * DEEPEST && nestingOf(text) > DEEPEST)
    throw new AppError('invalid', `The body is nested more than ${DEEPEST} levels deep`)
  try {
    return JSON.parse(text, ODD_KEY.test(text) ? printable : undefined)
  } catch {
    throw notJson()
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

/** With its letters as they are or escaped (`\u0041` to `\u007a`). Other texts are parsed without a look at each value. */
const ODD_KEY = /"(toString|valueOf)"|\\u00[4-7]/

/** The validator prints what it refuses, and fails over an object whose `toString` is no function. */
function printable(_key: string, value: unknown): unknown {
  const isOdd = isRecord(value) && (Object.hasOwn(value, 'toString') || Object.hasOwn(value, 'valueOf'))
  return isOdd ? Object.defineProperty(value, Symbol.toPrimitive, { value: () => 'an object' }) : value
}
