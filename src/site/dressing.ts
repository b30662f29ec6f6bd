import { type EffectPlace, type HeaderEffect, withEffect } from '../domain/routing/header-effect.ts'
import { headersOf304, type NotModified } from './site-file.ts'

/**
 * What a site's routing files do to the headers of its files at some addresses. The result is made once for each set of
 * headers, which stay the same object for one form of a file.
 */
export class Dressing {
  /** Its values hold parts of the path. */
  readonly isOfOnePath: boolean
  readonly #effect: HeaderEffect
  readonly #place: EffectPlace
  readonly #whole = new WeakMap<Headers, Headers>()
  readonly #notModified = new WeakMap<Headers, NotModified>()

  constructor(effect: HeaderEffect, place: EffectPlace, isOfOnePath = false) {
    this.#effect = effect
    this.#place = place
    this.isOfOnePath = isOfOnePath
  }

  /** In characters. */
  get size(): number {
    return [...this.#effect.values.values()].reduce((sum, value) => sum + value.length, 0)
  }

  /** Cached and shared: copy before adding anything. */
  whole(plain: Headers): Headers {
    const known = this.#whole.get(plain)
    if (known !== undefined) return known
    const headers = withEffect(plain, this.#effect, this.#place)
    this.#whole.set(plain, headers)
    return headers
  }

  /** The answer to somebody who has the file: a cache replaces what it stored by these. RFC 9111 §3.2. */
  notModified(plain: Headers): NotModified {
    let init = this.#notModified.get(plain)
    if (init === undefined) {
      init = { status: 304, headers: headersOf304(this.whole(plain), this.#effect.values.keys()) }
      this.#notModified.set(plain, init)
    }
    return init
  }
}
