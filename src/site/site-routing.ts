import type { Context } from '../context.ts'
import type { CompiledRouting } from '../domain/routing/compile.ts'
import type { HeaderBlock } from '../domain/routing/headers.ts'
import type { RedirectLine } from '../domain/routing/redirects.ts'
import { indexSources, type SourceIndex } from '../domain/routing/source-index.ts'
import type { Result } from '../domain/routing/target.ts'
import { readCompiled } from '../modules/deployments/routing/stored.ts'
import { BoundedMemory } from './bounded-memory.ts'
import type { Dressing } from './dressing.ts'
import type { Site } from './site.ts'

/** What a path gets whoever asks: a redirect, or a file, or whatever stands in for a missing one. */
export type Sure =
  | { redirect: { line: RedirectLine; result: Result } }
  | { redirect?: undefined; dressing: Dressing | undefined }

/** The routing files of the folder that a site serves, prepared for many requests. */
export type SiteRouting = {
  lines: SourceIndex<RedirectLine>
  blocks: SourceIndex<HeaderBlock>
  /** By which blocks match, and where. */
  dressings: BoundedMemory<Dressing>
  /** By host and path, for paths that no 3xx line takes. */
  sure: BoundedMemory<Sure>
}

type Kept = { revision: number; routing: SiteRouting | null; size: number }
type Store = { bySite: Map<string, Kept>; size: number }

/** The maximum number of lines and blocks of all sites. Above it, all are read again. */
const MAX_SIZE = 200_000
const stores = new WeakMap<Context, Store>()

/** The routing of a site; null for one without. */
export function routingOf(ctx: Context, site: Site): SiteRouting | null {
  if (!site.hasRouting) return null
  const store = storeOf(ctx)
  const kept = store.bySite.get(site.manifestKey)
  return kept !== undefined && kept.revision === site.revision ? kept.routing : load(ctx, store, site)
}

function storeOf(ctx: Context): Store {
  const known = stores.get(ctx)
  if (known !== undefined) return known
  const store: Store = { bySite: new Map(), size: 0 }
  stores.set(ctx, store)
  return store
}

function load(ctx: Context, store: Store, { deploymentId, basePath, manifestKey, revision }: Site) {
  const compiled = readCompiled(ctx, deploymentId, basePath)
  const size = 1 + (compiled === null ? 0 : compiled.lines.length + compiled.blocks.length)
  if (store.size + size > MAX_SIZE) {
    store.bySite.clear()
    store.size = 0
  }
  const routing = compiled === null ? null : prepare(compiled)
  store.size += size - (store.bySite.get(manifestKey)?.size ?? 0)
  store.bySite.set(manifestKey, { revision, routing, size })
  return routing
}

function prepare({ lines, blocks }: CompiledRouting): SiteRouting | null {
  if (lines.length + blocks.length === 0) return null
  return {
    lines: indexSources(lines),
    blocks: indexSources(blocks),
    dressings: new BoundedMemory(),
    sure: new BoundedMemory(),
  }
}
