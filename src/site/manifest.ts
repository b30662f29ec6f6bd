import type { Context } from '../context.ts'
import type { HtmlHandling } from '../domain/html-handling.ts'
import { type Manifest, type ManifestSource, readManifest } from './read-manifest.ts'

/**
 * The maximum number of files of all cached manifests. Above it, those not used since the last clearing are dropped.
 */
const MAX_FILES = 300_000

type Kept = { manifest: Manifest; revision: number; isUsed: boolean }
type Store = { manifests: Map<string, Kept>; files: number }
const stores = new WeakMap<Context, Store>()

/** The manifest of a deployment below a base path, from the cache if it is of the same revision. */
export function loadManifest(ctx: Context, source: ManifestSource): Manifest {
  const store = stores.get(ctx) ?? newStore(ctx)
  const kept = store.manifests.get(source.manifestKey)
  if (kept !== undefined && kept.revision === source.revision) {
    kept.isUsed = true
    return kept.manifest
  }
  if (kept !== undefined) forget(store, source.manifestKey, kept)
  const manifest = readManifest(ctx, source)
  makeRoom(store, manifest.fileCount)
  store.manifests.set(source.manifestKey, { manifest, revision: source.revision, isUsed: true })
  store.files += manifest.fileCount
  return manifest
}

/** Manifests are cached by what is shown, and how. */
export const manifestKey = ({
  deploymentId,
  basePath,
  htmlHandling,
}: {
  deploymentId: string
  basePath: string
  htmlHandling: HtmlHandling | null
}): string => `${deploymentId} ${htmlHandling ?? ''} ${basePath}`

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
