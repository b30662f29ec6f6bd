import type { Context } from '../context.ts'
import { isRoutingFile } from '../domain/routing/compile.ts'
import { isSentCompressed } from '../modules/deployments/traits.ts'
import { listFiles, listVariants } from './queries.ts'
import { SiteFile } from './site-file.ts'

/** What a request path resolves to: a file, or a redirect (`/about` to `/about/`). */
export type Target = SiteFile | { redirectTo: string }

/** All request paths of a deployment, loaded once. A miss is as cheap as a hit. */
export type Manifest = { targets: ReadonlyMap<string, Target>; fileCount: number }

/** A deployment, and the folder of it that is shown. */
export type ManifestSource = {
  manifestKey: string
  deploymentId: string
  revision: number
  commitSha: string
  updatedAt: number
  basePath: string
}

/** Reads the manifest of a deployment below its base path. */
export function readManifest(ctx: Context, row: ManifestSource): Manifest {
  // `Last-Modified` may not lie ahead, not even where the clock did (RFC 9110 §8.8.2.1).
  const source = { ...row, updatedAt: Math.min(row.updatedAt, ctx.now()) }
  const prefix = source.basePath === '' ? '' : `${source.basePath.slice(1)}/`
  const forms = Map.groupBy(listVariants(ctx.db, source.deploymentId), ({ of }) => of)
  const files = listFiles(ctx.db, source.deploymentId, prefix)
  const targets = new Map<string, Target>()
  const hasFile = (path: string) => isFileAt(targets.get(path), path)
  const place = { ctx, hasFile, updatedAt: source.updatedAt, commitSha: source.commitSha }
  for (const { path: storedPath, ...blob } of files) {
    if (isRoutingFile(storedPath)) continue
    const path = `/${storedPath.slice(prefix.length)}`
    const known = forms.get(blob.sha256)
    const variants = known !== undefined && isSentCompressed(ctx, path, blob) ? known : []
    targets.set(path, new SiteFile(place, path, blob, variants))
  }
  addCleanUrls(targets)
  return { targets, fileCount: files.length }
}

/** A clean address of another file does not count. */
const isFileAt = (target: Target | undefined, path: string): boolean =>
  target !== undefined && 'path' in target && target.path === path

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
