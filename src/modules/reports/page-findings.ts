import type { Context } from '../../context.ts'
import type { Finding } from '../../domain/deploy-report/findings.ts'
import { findInPage, hasLinks } from '../../domain/deploy-report/page-findings.ts'
import type { ReportedFile } from './queries.ts'
import type { ReportedSite } from './site.ts'

/** Of one report. */
const MAX_PAGES = 20_000
const MAX_BYTES = 512 * 1024 * 1024

type Telling = { found: (finding: Finding) => void; pause: () => Promise<void> }

/** Reads the pages and style sheets that a host shows. `truncated`: there are more, or larger ones, than are read. */
export async function findInPages(
  ctx: Context,
  files: readonly ReportedFile[],
  site: ReportedSite,
  { found, pause }: Telling,
): Promise<{ truncated: boolean }> {
  const patient = { ...site, pause }
  let [pages, bytes, isCut] = [0, 0, false]
  for (const { path: file, ...blob } of files) {
    const address = hasLinks(file) ? site.addressOf(file) : null
    if (address === null) continue
    pages += 1
    bytes += blob.sizeBytes
    if (pages > MAX_PAGES || bytes > MAX_BYTES) return { truncated: true }
    const text = textOf(ctx.blobs.stream(blob), pause)
    const page = await findInPage({ file, address, text }, patient, found)
    isCut ||= page.isCut
  }
  return { truncated: isCut }
}

/** Small pieces, so that others get their turn. */
const PIECE = 16 * 1024

async function* textOf(bytes: AsyncIterable<Uint8Array>, pause: () => Promise<void>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  for await (const chunk of bytes) {
    for (let at = 0; at < chunk.length; at += PIECE) {
      yield decoder.decode(chunk.subarray(at, at + PIECE), { stream: true })
      await pause()
    }
  }
  yield decoder.decode()
}
