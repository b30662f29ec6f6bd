import { OutboundError } from './error.ts'

/** Something that can be kept idle: a connection, which stores its own place in the order. */
export interface Idler {
  /** Set by `IdleConnections`; null while it is not idle. */
  idlePlace: IdlePlace | null
  fail(error: OutboundError): void
}

export type IdlePlace = { older: Idler | null; newer: Idler | null }

/** The limit for all backends together. */
const MAX_IDLE = 1024

/**
 * The idle connections of all backends in the order in which they became idle. Above the limit, the oldest is closed.
 */
export class IdleConnections {
  #oldest: Idler | null = null
  #newest: Idler | null = null
  #count = 0

  add(connection: Idler): void {
    connection.idlePlace = { older: this.#newest, newer: null }
    if (this.#newest?.idlePlace) this.#newest.idlePlace.newer = connection
    else this.#oldest = connection
    this.#newest = connection
    this.#count += 1
    if (this.#count > MAX_IDLE) this.#oldest?.fail(new OutboundError('aborted', 'Too many idle connections'))
  }

  /** The connection is used again, or gone. */
  delete(connection: Idler): void {
    const place = connection.idlePlace
    if (place === null) return
    connection.idlePlace = null
    this.#count -= 1
    if (place.older?.idlePlace) place.older.idlePlace.newer = place.newer
    else this.#oldest = place.newer
    if (place.newer?.idlePlace) place.newer.idlePlace.older = place.older
    else this.#newest = place.older
  }
}
