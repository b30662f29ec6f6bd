import type { CdnKind } from '../config/cdn.ts'
import type { Config } from '../config/config.ts'

/** Where caches read keys; a site's own values never reach them. */
const KEY_HEADERS = ['surrogate-key', 'xkey', 'cache-tag'] as const

const KEYS_OF: Record<CdnKind, readonly (typeof KEY_HEADERS)[number][]> = {
  varnish: ['xkey'],
  fastly: ['surrogate-key'],
  cloudflare: ['cache-tag'],
  webhook: ['surrogate-key', 'cache-tag'],
}

/** What a CDN is told of an answer: how long it may keep it, and by which keys it forgets it. contract 18 §8. */
export interface CdnMark {
  put(headers: Headers): void
  /** Cached and shared: copy before adding anything. Made once for each set of headers. */
  whole(plain: Headers): Headers
  /** The same for an answer without a body. */
  init(plain: ResponseInit & { headers: Headers }): ResponseInit
}

class PreparedMark implements CdnMark {
  readonly put: (headers: Headers) => void
  readonly #whole = new WeakMap<Headers, Headers>()
  readonly #inits = new WeakMap<Headers, ResponseInit>()

  constructor(put: (headers: Headers) => void) {
    this.put = put
  }

  whole(plain: Headers): Headers {
    const known = this.#whole.get(plain)
    if (known !== undefined) return known
    const headers = new Headers(plain)
    this.put(headers)
    this.#whole.set(plain, headers)
    return headers
  }

  init(plain: ResponseInit & { headers: Headers }): ResponseInit {
    const known = this.#inits.get(plain.headers)
    if (known !== undefined) return known
    const init = { ...plain, headers: this.whole(plain.headers) }
    this.#inits.set(plain.headers, init)
    return init
  }
}

/** Keeps an answer out of the CDN, whatever was said before. */
export function keepFromCdn(headers: Headers): void {
  for (const name of [...KEY_HEADERS, 'surrogate-control']) headers.delete(name)
  headers.set('cdn-cache-control', 'no-store')
}

/** The keys that an answer carries. */
export const keysIn = (headers: Headers): string[] =>
  KEY_HEADERS.map((name) => headers.get(name)?.split(/[ ,]/) ?? []).find((keys) => keys.length > 0) ?? []

const NOT_KEPT: CdnMark = new PreparedMark(keepFromCdn)

/** The marks of one site: its cacheable answers, and those that hold a file of an earlier deployment. */
export class CdnMarks {
  readonly own: CdnMark
  readonly #config: Config
  readonly #kind: CdnKind
  readonly #keys: readonly string[]
  readonly #withEarlier = new Map<string, CdnMark>()

  constructor(config: Config, kind: CdnKind, keys: readonly string[]) {
    this.#config = config
    this.#kind = kind
    this.#keys = keys
    this.own = this.#make([])
  }

  /** Also forgotten when that deployment goes. */
  withEarlier(deploymentId: string): CdnMark {
    const known = this.#withEarlier.get(deploymentId) ?? this.#make([keyOfDeployment(deploymentId)])
    this.#withEarlier.set(deploymentId, known)
    return known
  }

  #make(more: readonly string[]): CdnMark {
    const keys = [...this.#keys, ...more]
    return new PreparedMark((headers) => markCacheable(headers, this.#kind, this.#config.cdnMaxAge, keys))
  }
}

function markCacheable(headers: Headers, kind: CdnKind, maxAge: number, keys: readonly string[]): void {
  if (!isForEverybody(headers)) {
    keepFromCdn(headers)
    return
  }
  const isTimed = headers.has('cdn-cache-control') || headers.has('surrogate-control')
  if (!isTimed) headers.set('cdn-cache-control', `public, max-age=${maxAge}`)
  if (!isTimed && (kind === 'varnish' || kind === 'fastly'))
    headers.set('surrogate-control', `max-age=${maxAge}`)
  for (const name of KEY_HEADERS) headers.delete(name)
  for (const name of KEYS_OF[kind]) headers.set(name, keys.join(name === 'cache-tag' ? ',' : ' '))
}

/** A site's own `_headers` may keep a file from shared caches, or set cookies. */
const isForEverybody = (headers: Headers): boolean =>
  !headers.has('set-cookie') &&
  !/\b(?:private|no-store)\b/i.test(headers.get('cache-control') ?? '') &&
  !/(?:^|,)\s*(?:\*|cookie|authorization)\s*(?:,|$)/i.test(headers.get('vary') ?? '')

type Keyed = { project: { id: string }; alias: { id: string } | null; deploymentId: string }

/** The keys of a site's cacheable answers. contract 18 §8. */
export const cacheKeysOf = ({ project, alias, deploymentId }: Keyed): string[] => [
  keyOfProject(project.id),
  ...(alias === null ? [] : [`a-${alias.id}`]),
  keyOfDeployment(deploymentId),
]

export const keyOfProject = (id: string): string => `p-${id}`
const keyOfDeployment = (id: string): string => `d-${id}`

/** Null without a CDN. */
export const cdnMarksOf = (config: Config, site: Keyed): CdnMarks | null =>
  config.cdnKind === null ? null : new CdnMarks(config, config.cdnKind, cacheKeysOf(site))

/**
 * The mark of an answer; undefined without a CDN. `isConditional`: a line with a condition takes the path, held or not.
 * `earlierId`: the file is that of an earlier deployment.
 */
export function markOf(
  { cdn, isShared }: { cdn: CdnMarks | null; isShared: boolean },
  isConditional: boolean,
  earlierId?: string,
): CdnMark | undefined {
  if (cdn === null) return undefined
  if (!isShared || isConditional) return NOT_KEPT
  return earlierId === undefined ? cdn.own : cdn.withEarlier(earlierId)
}

/** The same for an answer that no visitor may find in a cache. */
export const unkept = (mark: CdnMark | undefined): CdnMark | undefined =>
  mark === undefined ? undefined : NOT_KEPT
