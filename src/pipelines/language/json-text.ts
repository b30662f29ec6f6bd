import { AppError } from '../../domain/errors.ts'

/** JSON that is parsed only when something looks inside, so that it can pass through as text. */
export class JsonText {
  readonly text: string
  #value: unknown

  /** `text` must be the JSON of an object or an array. */
  constructor(text: string) {
    this.text = text
  }

  get value(): unknown {
    this.#value ??= JSON.parse(this.text)
    return this.#value
  }

  /** Called when it is inside another value. */
  toJSON(): unknown {
    return this.value
  }
}

/** The value itself, parsed if it is a JSON text. */
export const plain = (value: unknown): unknown => (value instanceof JsonText ? value.value : value)

/** The JSON of any value; null for what JSON cannot represent. */
export function jsonOf(value: unknown): string {
  if (value instanceof JsonText) return value.text
  return JSON.stringify(value) ?? 'null'
}

const MAX_CHARACTERS = 64 * 1024 * 1024

/** The same for a resolved configuration: each of its places may name the whole body of the request, or an output. */
export function jsonOfConfig(value: unknown): string {
  if (!(value instanceof JsonText) && !isJsonWithin(value, MAX_CHARACTERS))
    throw new AppError('internal', 'The step produces a value that is too large')
  return jsonOf(value)
}

/**
 * Whether the JSON of a value has at most about this many characters. A value that appears in many places counts each
 * time.
 */
export const isJsonWithin = (value: unknown, characters: number): boolean =>
  roomBehind(value, characters) >= 0

/** About how many characters the JSON of a value has; more than `most` if it has more. */
export const charactersOf = (value: unknown, most: number): number => most - roomBehind(value, most)

/** The characters left of `room`; negative as soon as there are none. */
function roomBehind(value: unknown, room: number): number {
  if (value instanceof JsonText) return room - value.text.length
  if (typeof value === 'string') return room - value.length - 2
  if (typeof value !== 'object' || value === null) return room - 1
  let left = room - 2
  for (const [key, inner] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    if (left < 0) return left
    left = roomBehind(inner, left - 1 - (typeof key === 'string' ? key.length : 0))
  }
  return left
}
