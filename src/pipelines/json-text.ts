/** A value that came as JSON and may leave as JSON: parsed only when something looks inside. */
export class JsonText {
  readonly text: string
  #value: unknown

  /** `text` must be JSON of an object or an array. */
  constructor(text: string) {
    this.text = text
  }

  get value(): unknown {
    this.#value ??= JSON.parse(this.text)
    return this.#value
  }

  /** Inside of another value. */
  toJSON(): unknown {
    return this.value
  }
}

/** The value itself, parsed where it is a JSON text. */
export const plain = (value: unknown): unknown => (value instanceof JsonText ? value.value : value)

/** The JSON of any value; what JSON cannot say is null. */
export function jsonOf(value: unknown): string {
  if (value instanceof JsonText) return value.text
  return JSON.stringify(value) ?? 'null'
}
