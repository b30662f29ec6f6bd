import { inTurns } from '../log-sync.ts'
import { type Marker, writeMarker } from './marker.ts'

const SETTLE_MS = 1_000

type Followed = {
  dataDir: string
  /** What the data directory has. */
  marker: Marker
  /** What the file is at. */
  number: () => number
  /** Puts the file on the disk. */
  sync: () => Promise<void>
  failed: (error: unknown) => void
}

/** `replica.json` of a machine that follows. What it says is true after a power cut too. */
export class FollowerMarker {
  readonly #followed: Followed
  readonly #written: Marker
  readonly #settle = inTurns(() => this.#settleNow())
  /** Between `touch` and `touched`. */
  #isOpen = false
  /** The file was changed since it was last on its way to the disk. */
  #isChanged = false
  #timer: ReturnType<typeof setTimeout> | undefined
  #writing: Promise<void> = Promise.resolve()
  #failure: unknown

  constructor(followed: Followed) {
    this.#followed = followed
    this.#written = { ...followed.marker }
  }

  /** Await it before pages are put into the file; then say that they are. Without that the file is never called whole again. */
  async touch(seen: number): Promise<void> {
    this.#isOpen = true
    this.#isChanged = true
    if (this.#written.isWhole) this.#write({ seen, isWhole: false }).catch(() => {})
    await this.#writing
  }

  touched(): void {
    this.#isOpen = false
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#settle().catch((error) => this.#followed.failed(error))
    }, SETTLE_MS)
    this.#timer.unref()
  }

  /** Says what the file is at. Nothing is put into it any more. */
  async end(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#settle()
  }

  /** More pages may be put into the file meanwhile. */
  async #settleNow(): Promise<void> {
    this.#isChanged = this.#isOpen
    const number = this.#followed.number()
    // The system reports a failure once, and what was to be on the disk may be lost.
    if (this.#failure !== undefined) throw this.#failure
    await this.#followed.sync().catch((error) => {
      this.#failure = error
      throw error
    })
    await this.#write({ number, seen: Math.max(number, this.#written.seen), isWhole: !this.#isChanged })
  }

  #write(changed: Partial<Marker>): Promise<void> {
    Object.assign(this.#written, changed)
    const marker = { ...this.#written }
    this.#writing = this.#writing
      .catch(() => {})
      .then(() => writeMarker(this.#followed.dataDir, marker))
      .catch((error) => {
        // Another try follows with the next pages.
        this.#written.isWhole = true
        throw error
      })
    return this.#writing
  }
}
