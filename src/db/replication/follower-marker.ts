import { type Marker, writeMarker } from './marker.ts'

/** `replica.json` of a machine that follows. What it says is true after a power cut too. */
export class FollowerMarker {
  readonly #dataDir: string
  readonly #written: Marker
  /** Pages were put into the file since it was last on the disk. */
  #isTouched = false
  #writing: Promise<void> = Promise.resolve()

  /** `written` is what the data directory has. */
  constructor(dataDir: string, written: Marker) {
    this.#dataDir = dataDir
    this.#written = { ...written }
  }

  /** Await it before pages are put into the file. */
  async touch(seen: number): Promise<void> {
    this.#isTouched = true
    if (this.#written.isWhole) this.#write({ seen, isWhole: false }).catch(() => {})
    await this.#writing
  }

  /** Puts the file as it is now on the disk, and says so. More pages may be put into it meanwhile. */
  async settle(number: number, sync: () => Promise<void>): Promise<void> {
    this.#isTouched = false
    await sync()
    await this.#write({ number, seen: Math.max(number, this.#written.seen), isWhole: !this.#isTouched })
  }

  #write(changed: Partial<Marker>): Promise<void> {
    Object.assign(this.#written, changed)
    const marker = { ...this.#written }
    this.#writing = this.#writing
      .catch(() => {})
      .then(() => writeMarker(this.#dataDir, marker))
      .catch((error) => {
        // Another try follows with the next pages.
        this.#written.isWhole = true
        throw error
      })
    return this.#writing
  }
}
