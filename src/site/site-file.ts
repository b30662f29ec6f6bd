import { cacheControlOf } from '../domain/cache-control.ts'
import type { ContentCoding } from '../domain/content-encoding.ts'
import { httpDate } from '../domain/http-date.ts'
import type { Visibility } from '../domain/visibility.ts'
import type { KnownBlob } from '../modules/deployments/traits.ts'
import type { StoredBlob } from '../platform/blob-store.ts'
import { LARGEST_KEPT } from './body-cache.ts'
import { type SentAs, type SentFrom, sentAs } from './sent-as.ts'
import type { Site } from './site.ts'

/** Who may see a file. */
export type Shown = Pick<Site, 'isShared' | 'isNoindex'> & { visibility: Pick<Visibility, 'isPublic'> }

/** What a 304 is made of: cached and shared. */
export type NotModified = { status: 304; headers: Headers }

/** Headers by who may see the file, made on first use. */
type Made = {
  shared?: Headers
  varied?: Headers
  private?: Headers
  sharedNotModified?: NotModified
  ownNotModified?: NotModified
}

/** One representation of a file: its bytes in one coding, its tag, and its headers, created on first use. */
export class Representation {
  readonly blob: StoredBlob
  readonly etag: string
  readonly #file: SiteFile
  readonly #encoding: Encoding
  readonly #listed: Made = {}
  readonly #unlisted: Made = {}

  constructor(file: SiteFile, encoding: Encoding, blob: StoredBlob, sha256: string) {
    this.#file = file
    this.#encoding = encoding
    this.blob = blob
    this.etag = etagOf(sha256, encoding)
  }

  /** Cached and shared: copy before adding anything. */
  headers(shown: Shown): Headers {
    const made = shown.isNoindex ? this.#unlisted : this.#listed
    if (shown.isShared) {
      made.shared ??= this.#make(shown)
      return made.shared
    }
    if (shown.visibility.isPublic) {
      made.varied ??= this.#make(shown)
      return made.varied
    }
    made.private ??= this.#make(shown)
    return made.private
  }

  /**
   * 304, with the headers a cache needs to keep using its copy (RFC 9110 §15.4.5), and the type, for counting visits.
   */
  notModified(shown: Shown): NotModified {
    const made = shown.isNoindex ? this.#unlisted : this.#listed
    if (shown.isShared) {
      made.sharedNotModified ??= notModifiedInit(this.headers(shown))
      return made.sharedNotModified
    }
    made.ownNotModified ??= notModifiedInit(this.headers(shown))
    return made.ownNotModified
  }

  #make({ isShared, visibility, isNoindex }: Shown): Headers {
    const { path, available, lastModified, commitSha, sentAs } = this.#file
    const isCoded = available.length > 0 || sentAs.coding !== null
    const vary = [...(isCoded ? ['Accept-Encoding'] : []), ...(isShared ? [] : ['Cookie'])]
    const coding = this.#encoding === 'identity' ? sentAs.coding : this.#encoding
    return new Headers({
      'content-type': sentAs.contentType,
      // The runtime sets this itself. The request log reads it here, because it cannot read a body's size.
      'content-length': String(this.blob.sizeBytes),
      'x-content-type-options': 'nosniff',
      etag: this.etag,
      'last-modified': httpDate(lastModified),
      'accept-ranges': 'bytes',
      'x-svc-commit': commitSha,
      'cache-control': cacheControlOf(path, isShared),
      ...(vary.length === 0 ? {} : { vary: vary.join(', ') }),
      // A sibling site's page may send the visitor's cookie too: it must not load a private script as its own.
      ...(visibility.isPublic ? {} : { 'cross-origin-resource-policy': 'same-origin' }),
      ...(isNoindex ? { 'x-robots-tag': 'noindex' } : {}),
      ...(coding === null ? {} : { 'content-encoding': coding }),
      // Otherwise the runtime adds one, with the stored file's name, when it sends from disk.
      ...(this.blob.sizeBytes > LARGEST_KEPT ? { 'content-disposition': 'inline' } : {}),
    })
  }
}

export const etagOf = (sha256: string, encoding: Encoding = 'identity'): string =>
  `"${sha256.slice(0, 32)}${encoding === 'identity' ? '' : `-${encoding}`}"`

const notModifiedInit = (whole: Headers): NotModified => ({ status: 304, headers: headersOf304(whole, []) })

const KEPT_BY_304 = ['etag', 'cache-control', 'vary', 'x-svc-commit', 'content-type', 'x-robots-tag'] as const

/** Of the headers of a whole answer those of a 304, and `more` of them. */
export function headersOf304(whole: Headers, more: Iterable<string>): Headers {
  const headers = new Headers()
  for (const name of [...KEPT_BY_304, ...more]) {
    const value = whole.get(name)
    if (value !== null) headers.set(name, value)
  }
  return headers
}

type Encoding = ContentCoding | 'identity'
export type VariantBlob = StoredBlob & { encoding: ContentCoding }

/** What the files of one manifest share. */
export type ManifestPlace = SentFrom & { updatedAt: number; commitSha: string }

/** A file of a deployment, as a site shows it. */
export class SiteFile {
  /** The path on the site, with its leading slash. */
  readonly path: string
  readonly lastModified: number
  readonly commitSha: string
  readonly available: readonly ContentCoding[]
  readonly #place: ManifestPlace
  readonly #blob: KnownBlob
  readonly #variants: readonly VariantBlob[]
  readonly #forms: Partial<Record<Encoding, Representation>> = {}
  #sentAs: SentAs | undefined

  /** `variants` are the compressed forms that it may be sent in. */
  constructor(place: ManifestPlace, path: string, blob: KnownBlob, variants: readonly VariantBlob[]) {
    this.path = path
    this.lastModified = place.updatedAt
    this.commitSha = place.commitSha
    this.available = variants.length === 0 ? NO_CODINGS : variants.map(({ encoding }) => encoding)
    this.#place = place
    this.#blob = blob
    this.#variants = variants
  }

  /** Its type and stored coding. They may depend on its bytes, which are looked at when this is first asked. */
  get sentAs(): SentAs {
    this.#sentAs ??= sentAs(this.#place, this.path, this.#blob)
    return this.#sentAs
  }

  /** The file in that coding, or unencoded if there is no such variant. */
  as(encoding: Encoding): Representation {
    const known = this.#forms[encoding]
    if (known !== undefined) return known
    const variant = this.#variants.find((one) => one.encoding === encoding)
    const form = new Representation(
      this,
      variant?.encoding ?? 'identity',
      variant ?? this.#blob,
      this.#blob.sha256,
    )
    this.#forms[encoding] = form
    return form
  }
}

const NO_CODINGS: readonly ContentCoding[] = []
