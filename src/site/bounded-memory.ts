const MAX_ENTRIES = 5_000
const MAX_CHARACTERS = 1024 * 1024

/** Remembers values by keys that strangers may make up. When it is full, it begins again. */
export class BoundedMemory<V> {
  readonly #values = new Map<string, V>()
  #characters = 0

  get(key: string): V | undefined {
    return this.#values.get(key)
  }

  /** `size` is that of the value in characters, if it is no other's. What is too large is not kept. */
  keep(key: string, value: V, size = 0): void {
    const characters = key.length + size
    if (characters > MAX_CHARACTERS) return
    if (this.#values.size >= MAX_ENTRIES || this.#characters + characters > MAX_CHARACTERS) this.#clear()
    this.#values.set(key, value)
    this.#characters += characters
  }

  #clear(): void {
    this.#values.clear()
    this.#characters = 0
  }
}
