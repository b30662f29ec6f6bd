import { createOutbound, type Outbound } from '../../platform/outbound.ts'

/** Event streams and uploads of visitors take turns here as on one machine: there is room for many. */
const LIMITS = { maxInFlight: 2_048, maxWaiting: 2_048 }

/** The connections to the machine at one origin, which a take-over changes. */
export class PrimaryLine {
  readonly #extraCaPem: string | null
  #current: { origin: string; url: URL; outbound: Outbound } | undefined

  constructor(extraCaPem: string | null) {
    this.#extraCaPem = extraCaPem
  }

  /** What has begun on the old one goes on, or fails by itself. */
  to(origin: string): { url: URL; outbound: Outbound } {
    if (this.#current?.origin === origin) return this.#current
    const url = new URL(origin)
    const port = url.port || (url.protocol === 'http:' ? 80 : 443)
    // The operator has named it.
    const allowedTargets = [`${url.hostname}:${port}`]
    const outbound = createOutbound({ allowedTargets, extraCaPem: this.#extraCaPem, limits: LIMITS })
    this.#current = { origin, url, outbound }
    return this.#current
  }

  close(): void {
    this.#current?.outbound.close()
    this.#current = undefined
  }
}
