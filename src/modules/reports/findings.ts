import type { Context } from '../../context.ts'
import { findInNames } from '../../domain/deploy-report/file-findings.ts'
import type { Finding } from '../../domain/deploy-report/findings.ts'
import { findLeftOut, type LeftOutPaths } from '../../domain/deploy-report/left-out.ts'
import { findInLines, findRefused } from '../../domain/deploy-report/line-findings.ts'
import { BYTES_LOOKED_AT, findSecret } from '../../domain/deploy-report/secrets.ts'
import { servedAddresses } from '../../domain/deploy-report/served-addresses.ts'
import { AppError } from '../../domain/errors.ts'
import { withContents } from '../../platform/blob-store.ts'
import { NO_ROUTING, readCompiled } from '../deployments/routing/stored.ts'
import type { ReportedFile } from './queries.ts'
import { findInRouter } from './router-findings.ts'
import type { ReportedSite } from './site.ts'

/** What a report looks at. */
export type Reported = {
  files: readonly ReportedFile[]
  leftOut: LeftOutPaths
  site: ReportedSite
}

/** Everything but what the pages say; null where nothing was found, so that others get their turn. */
export async function* findAll(ctx: Context, reported: Reported): AsyncGenerator<Finding | null> {
  const { files, leftOut, site } = reported
  const paths = files.map(({ path }) => path)
  yield* findLeftOut(leftOut)
  yield* findInNames({ paths, folder: site.folder })
  yield* findSecrets(ctx, files)
  const routing = readCompiled(ctx, site.deploymentId, site.folder) ?? NO_ROUTING
  yield* findRefused(routing)
  const place = {
    file: `${site.folder}/_redirects`.slice(1),
    host: site.hostname,
    hasFile: servedAddresses({ paths, folder: site.folder }, site.htmlHandling),
    addresses: paths.flatMap((path) => site.addressOf(path) ?? []),
  }
  yield* findInLines(routing.lines, place)
  yield* findInRouter(routing.lines, place, site)
}

/** A content that cannot be read is a matter of `svc check`. */
async function* findSecrets(ctx: Context, files: readonly ReportedFile[]): AsyncGenerator<Finding | null> {
  for (const { path, ...blob } of files) {
    let head = new Uint8Array(0)
    try {
      const end = Math.min(blob.sizeBytes, BYTES_LOOKED_AT)
      head = Uint8Array.from(await withContents(ctx, () => ctx.blobs.readPartSync(blob, 0, end)))
    } catch (error) {
      // One that is to be had later makes the report wait for that.
      if (error instanceof AppError && error.code === 'CONTENT_UNREACHABLE') throw error
      // Its name is looked at all the same.
    }
    yield findSecret(path, head)
  }
}
