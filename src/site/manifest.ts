import type { Context } from '../context.ts'
import { cacheControlOf } from '../domain/cache-control.ts'
import type { ContentCoding } from '../domain/content-encoding.ts'
import { contentTypeOf } from '../domain/content-type.ts'
import { httpDate } from '../domain/http-date.ts'
import type { StoredBlob } from '../platform/blob-store.ts'
import { LARGEST_KEPT } from './body-cache.ts'
import { listFiles, listVariants } from './queries.ts'
import type { Site } from './resolve-site.ts'

/** Who may see a file. */
export type Shown = Pick<Site, 'isShared' | 'visibility'>

/** One representation of a file: its bytes in one coding, its tag, and its headers, created on first use. */
export class Representation {
  readonly blob: StoredBlob
  readonly etag: string
  readonly #file: SiteFile
  readonly #encoding: Encoding
  #shared: Headers | undefined
  #varied: Headers | undefined
  #private: Headers | undefined
  #sharedNotModified: ResponseInit | undefined
  #ownNotModified: ResponseInit | undefined

  constructor(file: SiteFile, encoding: Encoding, blob: StoredBlob, sha256: string) {
    this.#file = file
    this.#encoding = encoding
    this.blob = blob
    this.etag = `"${sha256.slice(0, 32)}${encoding === 'identity' ? '' : `-${encoding}`}"`
  }

  /** Cached and shared: copy before adding anything. */
  headers(shown: Shown): Headers {
    if (shown.isShared) {
      this.#shared ??= this.#make(shown)
      return this.#shared
    }
    if (shown.visibility.isPublic) {
      this.#varied ??= this.#make(shown)
      return this.#varied
    }
    this.#private ??= this.#make(shown)
    return this.#private
  }

  /**
   * 304, with the headers a cache needs to keep using its copy (RFC 9110 §15.4.5), and the type, for counting visits.
   */
  notModified(shown: Shown): Response {
    if (shown.isShared) this.#sharedNotModified ??= notModifiedInit(this.headers(shown))
    else this.#ownNotModified ??= notModifiedInit(this.headers(shown))
    return new Response(null, shown.isShared ? this.#sharedNotModified : this.#ownNotModified)
  }

  #make({ isShared, visibility }: Shown): Headers {
    const { path, available, lastModified, commitSha } = this.#file
    const vary = [...(available.length > 0 ? ['Accept-Encoding'] : []), ...(isShared ? [] : ['Cookie'])]
    return new Headers({
      'content-type': contentTypeOf(path),
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
      ...(this.#encoding === 'identity' ? {} : { 'content-encoding': this.#encoding }),
      // Otherwise the runtime adds one, with the stored file's name, when it sends from disk.
      ...(this.blob.sizeBytes > LARGEST_KEPT ? { 'content-disposition': 'inline' } : {}),
    })
  }
}

function notModifiedInit(whole: Headers): ResponseInit {
  const headers = new Headers()
  for (const name of ['etag', 'cache-control', 'vary', 'x-svc-commit', 'content-type']) {
    const value = whole.get(name)
    if (value !== null) headers.set(name, value)
  }
  return { status: 304, headers }
}

type Encoding = ContentCoding | 'identity'
type VariantBlob = { encoding: ContentCoding; blob: StoredBlob }

/** A file of a deployment, as a site shows it. */
export class SiteFile {
  /** The path on the site, with its leading slash. */
  readonly path: string
  readonly lastModified: number
  readonly commitSha: string
  readonly available: readonly ContentCoding[]
  readonly #blob: StoredBlob
  readonly #variants: readonly VariantBlob[]
  readonly #forms: Partial<Record<Encoding, Representation>> = {}

  constructor(path: string, blob: StoredBlob, variants: readonly VariantBlob[], source: Source) {
    this.path = path
    this.lastModified = source.updatedAt
    this.commitSha = source.commitSha
    this.available = variants.length === 0 ? NO_CODINGS : variants.map(({ encoding }) => encoding)
    this.#blob = blob
    this.#variants = variants
  }

  /** The file in that coding, or unencoded if there is no such variant. */
  as(encoding: Encoding): Representation {
    const known = this.#forms[encoding]
    if (known !== undefined) return known
    const variant = this.#variants.find((one) => one.encoding === encoding)
    const form = new Representation(
      this,
      variant?.encoding ?? 'identity',
      variant?.blob ?? this.#blob,
      this.#blob.sha256,
    )
    this.#forms[encoding] = form
    return form
  }
}

const NO_CODINGS: readonly ContentCoding[] = []
const NO_VARIANTS: readonly VariantBlob[] = []

/** What a request path resolves to: a file, or a redirect (`/about` to `/about/`). */
export type Target = SiteFile | { redirectTo: string }

/** All request paths of a deployment, loaded once. A miss is as cheap as a hit. */
export type Manifest = { targets: ReadonlyMap<string, Target>; fileCount: number }

type Source = {
  manifestKey: string
  deploymentId: string
  version: number
  commitSha: string
  updatedAt: number
  basePath: string
}

/**
 * The maximum number of files of all cached manifests. Above it, those not used since the last clearing are dropped.
 */
const MAX_FILES = 300_000

type Kept = { manifest: Manifest; version: number; isUsed: boolean }
type Store = { manifests: Map<string, Kept>; files: number }
const stores = new WeakMap<Context, Store>()

/** The manifest of a deployment below a base path, from the cache if it is of the same version. */
export function loadManifest(ctx: Context, source: Source): Manifest {
  const store = stores.get(ctx) ?? newStore(ctx)
  const kept = store.manifests.get(source.manifestKey)
  if (kept !== undefined && kept.version === source.version) {
    kept.isUsed = true
    return kept.manifest
  }
  if (kept !== undefined) forget(store, source.manifestKey, kept)
  const manifest = readManifest(ctx, source)
  makeRoom(store, manifest.fileCount)
  store.manifests.set(source.manifestKey, { manifest, version: source.version, isUsed: true })
  store.files += manifest.fileCount
  return manifest
}

/** Manifests are cached by deployment and base path. */
export const manifestKey = (deploymentId: string, basePath: string): string => `${deploymentId} ${basePath}`

function newStore(ctx: Context): Store {
  const store: Store = { manifests: new Map(), files: 0 }
  stores.set(ctx, store)
  return store
}

/** At most two rounds: the first clears the marks of used manifests, the second removes those without a mark. */
function makeRoom(store: Store, files: number): void {
  for (let round = 0; round < 2 && store.files + files > MAX_FILES; round++)
    for (const [key, kept] of store.manifests) {
      if (store.files + files <= MAX_FILES) return
      if (kept.isUsed) kept.isUsed = false
      else forget(store, key, kept)
    }
}

function forget(store: Store, key: string, kept: Kept): void {
  store.manifests.delete(key)
  store.files -= kept.manifest.fileCount
}

function readManifest(ctx: Context, row: Source): Manifest {
  // `Last-Modified` may not lie ahead, not even where the clock did (RFC 9110 §8.8.2.1).
  const source = { ...row, updatedAt: Math.min(row.updatedAt, ctx.now()) }
  const prefix = source.basePath === '' ? '' : `${source.basePath.slice(1)}/`
  const variants = new Map<string, VariantBlob[]>()
  for (const { of, encoding, ...blob } of listVariants(ctx.db, source.deploymentId))
    variants.set(of, [...(variants.get(of) ?? []), { encoding, blob }])

  const files = listFiles(ctx.db, source.deploymentId, prefix)
  const targets = new Map<string, Target>()
  for (const { path, ...blob } of files) {
    const sitePath = `/${path.slice(prefix.length)}`
    targets.set(sitePath, new SiteFile(sitePath, blob, variants.get(blob.sha256) ?? NO_VARIANTS, source))
  }
  addCleanUrls(targets)
  return { targets, fileCount: files.length }
}

/**
 * `/dir/` shows its index; `/about` shows `about.html`, or else redirects to `/about/`. Actual file names take
 * precedence. contract §6.
 */
function addCleanUrls(targets: Map<string, Target>): void {
  const files = [...targets.values()].filter((target) => 'path' in target)
  for (const file of files) {
    if (file.path.endsWith('/index.html')) targets.set(file.path.slice(0, -'index.html'.length), file)
    if (file.path.endsWith('.html')) setIfFree(targets, file.path.slice(0, -'.html'.length), file)
  }
  for (const { path } of files) {
    if (!path.endsWith('/index.html') || path === '/index.html') continue
    const folder = path.slice(0, -'index.html'.length)
    setIfFree(targets, folder.slice(0, -1), { redirectTo: folder })
  }
}

function setIfFree(targets: Map<string, Target>, path: string, target: Target): void {
  if (!path.endsWith('/') && !targets.has(path)) targets.set(path, target)
}
