import type { Context } from '../../../context.ts'
import { AppError } from '../../../domain/errors.ts'
import {
  BYTES_TO_READ,
  type CompiledRouting,
  compileRouting as compileFolder,
  passwordLineOf,
  type RoutingBytes,
  routingFileAt,
} from '../../../domain/routing/compile.ts'
import { proxyHostRule } from '../../../platform/outbound/proxy-host-rule.ts'
import { type CompiledRow, listRoutingFiles, replaceCompiled } from './queries.ts'

/** Of more files, or more bytes in all, the inner ones are not used: any folder may be served one day. */
const MAX_FILES = 200
const MAX_BYTES = 4 * BYTES_TO_READ

/** Which hosts a line may fetch from; a message if not. */
export type ProxyHostRule = (url: URL) => string | null

/**
 * Compiles the routing files of a deployment, in the transaction that changed its files. Throws `HEADERS_BASIC_AUTH` for
 * a file that would have locked the site elsewhere. contract 13 §1 and §3.
 */
export function compileRouting(ctx: Context, deploymentId: string): void {
  const files = readRoutingFiles(ctx, deploymentId)
  for (const file of files) refusePassword(file)
  replaceCompiled(ctx.db, deploymentId, compiledOf(files, proxyHostRule(ctx.config.proxyAllowedTargets)))
}

/** The same where nothing can be refused any more. */
export function recompileRouting(ctx: Context, deploymentId: string): void {
  const files = readRoutingFiles(ctx, deploymentId)
  replaceCompiled(ctx.db, deploymentId, compiledOf(files, proxyHostRule(ctx.config.proxyAllowedTargets)))
}

/** What the routing files of a deployment say now, by folder. */
export const compileAgain = (ctx: Context, deploymentId: string, mayProxyTo: ProxyHostRule): CompiledRow[] =>
  compiledOf(readRoutingFiles(ctx, deploymentId), mayProxyTo)

/** `bytes` null: there are too many. */
type RoutingFile = { path: string; bytes: Uint8Array | null }

function readRoutingFiles(ctx: Context, deploymentId: string): RoutingFile[] {
  const files: RoutingFile[] = []
  let left = MAX_BYTES
  for (const { path, ...blob } of listRoutingFiles(ctx.db, deploymentId, MAX_FILES)) {
    const sizeBytes = Math.min(blob.sizeBytes, BYTES_TO_READ)
    left -= sizeBytes
    files.push({ path, bytes: left < 0 ? null : ctx.blobs.readPartSync(blob, 0, sizeBytes) })
  }
  return files
}

function refusePassword({ path, bytes }: RoutingFile): void {
  const isRead = bytes !== null && routingFileAt(path)?.kind === 'headers'
  const line = isRead ? passwordLineOf(bytes) : null
  if (line === null) return
  throw new AppError(
    'invalid',
    `${path}:${line}: Basic-Auth would lock the site elsewhere, but not here, so nothing was published. Take the line out and make the project or the alias private instead, then invite the people who may see it.`,
    { code: 'HEADERS_BASIC_AUTH' },
  )
}

function compiledOf(files: readonly RoutingFile[], mayProxyTo: ProxyHostRule): CompiledRow[] {
  const folders = new Map<string, RoutingBytes>()
  for (const { path, bytes } of files) {
    const at = routingFileAt(path)
    if (at === null) continue
    folders.set(at.folder, { ...(folders.get(at.folder) ?? NONE), [at.kind]: bytes })
  }
  return [...folders].map(([folder, bytes]) => {
    const compiled = compileFolder(folder, bytes, { mayProxyTo })
    const unread = files.filter(
      ({ path, bytes: read }) => read === null && routingFileAt(path)?.folder === folder,
    )
    return { folder, compiled: JSON.stringify(withUnread(compiled, unread)) }
  })
}

const withUnread = (compiled: CompiledRouting, unread: readonly RoutingFile[]): CompiledRouting => ({
  ...compiled,
  refused: compiled.refused + unread.length,
  problems: [
    ...compiled.problems,
    ...unread.map(({ path: file }) => ({
      file,
      line: 0,
      message: 'the routing files around it are too large',
    })),
  ],
})

const NONE: RoutingBytes = { redirects: null, headers: null }
