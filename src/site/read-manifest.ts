import type { Context } from '../context.ts'
import { addCleanAddresses } from '../domain/clean-addresses.ts'
import type { HtmlHandling } from '../domain/html-handling.ts'
import { isRoutingFile } from '../domain/routing/compile.ts'
import { isSentCompressed } from '../modules/deployments/traits.ts'
import { listFiles, listVariants } from './queries.ts'
import { SiteFile } from './site-file.ts'

/** What a request path resolves to: a file, or a redirect to the address of one (`/about` to `/about/`). */
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
  htmlHandling: HtmlHandling | null
}

/** Reads the manifest of a deployment below its base path. */
export function readManifest(ctx: Context, row: ManifestSource): Manifest {
  // `Last-Modified` may not lie ahead, not even where the clock did (RFC 9110 §8.8.2.1).
  const source = { ...row, updatedAt: Math.min(row.updatedAt, ctx.now()) }
  const prefix = source.basePath === '' ? '' : `${source.basePath.slice(1)}/`
  const forms = Map.groupBy(listVariants(ctx.db, source.deploymentId), ({ of }) => of)
  const files = listFiles(ctx.db, source.deploymentId, prefix)
  const targets = new Map<string, Target>()
  const hasFile = (path: string) => fileAt(targets, path) !== undefined
  const place = { ctx, hasFile, updatedAt: source.updatedAt, commitSha: source.commitSha }
  for (const { path: storedPath, ...blob } of files) {
    if (isRoutingFile(storedPath)) continue
    const path = `/${storedPath.slice(prefix.length)}`
    const known = forms.get(blob.sha256)
    const variants = known !== undefined && isSentCompressed(ctx, path, blob) ? known : []
    targets.set(path, new SiteFile(place, path, blob, variants))
  }
  addCleanAddresses(targets, row.htmlHandling)
  return { targets, fileCount: files.length }
}

/** The file of this name, also where its name redirects to a clean address. */
export function fileAt(targets: Manifest['targets'], path: string): SiteFile | undefined {
  const file = shownAt(targets, path)
  return file?.path === path ? file : undefined
}

/** The file that an address shows in the end. */
export function shownAt(targets: Manifest['targets'], path: string): SiteFile | undefined {
  const target = targets.get(path)
  const shown = target !== undefined && 'redirectTo' in target ? targets.get(target.redirectTo) : target
  return shown !== undefined && 'path' in shown ? shown : undefined
}
