import type { Context } from '../../context.ts'
import { AppError } from '../../domain/errors.ts'
import { errorResponse } from '../../http/error-response.ts'
import { MAX_REPORT_BYTES, REPORT_PATH, readReport } from '../../modules/machines/report.ts'
import { noteReport } from '../../modules/machines/reported.ts'
import { sha256Of } from '../../platform/object-store/sign.ts'
import type { App } from '../app.ts'

/** The primary's answer to machines that say how they are; all else goes on. Only signed requests have `peer.machine`. */
export function takingReports(ctx: Context, app: App): App['fetch'] {
  return (request, peer) => {
    if (peer.machine === undefined || request.method !== 'POST') return app.fetch(request, peer)
    const { pathname, searchParams } = new URL(request.url)
    if (pathname !== REPORT_PATH) return app.fetch(request, peer)
    const sha256 = searchParams.get('sha256') ?? ''
    return take(ctx, request, { name: peer.machine.name, sha256 }).catch((error: unknown) => {
      if (error instanceof AppError) return errorResponse(error)
      throw error
    })
  }
}

type Sender = { name: string; sha256: string }

async function take(ctx: Context, request: Request, { name, sha256 }: Sender): Promise<Response> {
  const bytes = await readAll(request)
  const isSigned = (await sha256Of(bytes)) === sha256
  const report = isSigned ? readReport(new TextDecoder().decode(bytes), ctx.now()) : null
  if (report === null || report.machine.name !== name)
    throw new AppError('invalid', 'This is no report of a machine of this version')
  for (const host of report.visited ?? []) ctx.certificates.visited(host)
  if (noteReport(ctx, report.machine, report.batch)) {
    ctx.requestLog.receive(report.rows)
    ctx.requestLog.drop(report.dropped)
  }
  return new Response(null, { status: 204 })
}

async function readAll({ body }: Request): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of body ?? []) {
    size += piece.length
    if (size > MAX_REPORT_BYTES) throw new AppError('too_large', 'A report is not that long')
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}
