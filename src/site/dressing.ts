import type { VariesBy } from '../domain/routing/conditions.ts'
import {
  addVary,
  type EffectPlace,
  type HeaderEffect,
  makePrivate,
  withEffect,
} from '../domain/routing/header-effect.ts'
import { headersOf304 } from './site-file.ts'

/**
 * What a site's routing files do to the headers of its files at some addresses. The result is made once for each set of
 * headers, which stay the same object for one form of a file.
 */
export class Dressing {
  readonly #effect: HeaderEffect
  readonly #varies: VariesBy
  readonly #place: EffectPlace
  readonly #whole = new WeakMap<Headers, Headers>()
  readonly #notModified = new WeakMap<Headers, ResponseInit>()

  constructor(effect: HeaderEffect, varies: VariesBy, place: EffectPlace) {
    this.#effect = effect
    this.#varies = varies
    this.#place = { ...place, isPrivate: place.isPrivate || varies.cookie }
  }

  /** Cached and shared: copy before adding anything. */
  whole(plain: Headers): Headers {
    const known = this.#whole.get(plain)
    if (known !== undefined) return known
    const headers = withEffect(plain, this.#effect, this.#place)
    varyBy(headers, this.#varies)
    this.#whole.set(plain, headers)
    return headers
  }

  /** The answer to somebody who has the file: a cache replaces what it stored by these. RFC 9111 §3.2. */
  notModified(plain: Headers): Response {
    let init = this.#notModified.get(plain)
    if (init === undefined) {
      init = { status: 304, headers: headersOf304(this.whole(plain), this.#effect.values.keys()) }
      this.#notModified.set(plain, init)
    }
    return new Response(null, init)
  }
}

/** Says what an answer varies by, and keeps it out of shared caches if that is a cookie. contract 13 §2. */
export function varyBy(headers: Headers, { language, cookie }: VariesBy): void {
  if (language) addVary(headers, 'Accept-Language')
  if (cookie) makePrivate(headers)
}
