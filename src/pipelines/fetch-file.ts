import { MINUTE_MS } from '../domain/durations.ts'
import { AppError } from '../domain/errors.ts'
import type { HeaderPair } from '../domain/forward-headers.ts'
import { parseWebUrl } from '../domain/web-url.ts'
import { type StagedFile, stageFile } from '../modules/files/service.ts'
import type { ByteStream } from '../platform/byte-stream.ts'
import { OutboundError } from '../platform/outbound/error.ts'
import { getFollowing } from '../platform/outbound/follow.ts'
import { leave } from '../platform/outbound/read.ts'
import type { OutboundResponse } from '../platform/outbound.ts'
import type { StepContext } from './runner.ts'

const SILENCE_MS = 30_000
const LIMIT_MS = 5 * MINUTE_MS

export type FetchedFile = { originalName: string; declaredType: string | null; staged: StagedFile }

/**
 * Fetches a file, which streams to the disk. The caller discards what it does not keep. Throws 502 `SOURCE_FETCH_FAILED`, and
 * 413 and 507 as for a file of a form. contract 14.3 and 14.5.
 */
export async function fetchFile(step: StepContext, source: string, maxBytes: number): Promise<FetchedFile> {
  const url = parseWebUrl(source)
  if (url === null || url.protocol !== 'https:') throw failed('sourceUrl is no https address')
  const limit = AbortSignal.timeout(LIMIT_MS)
  try {
    const response = await getFollowing(step.ctx.outbound, url, {
      headers: [['accept', '*/*']],
      headTimeoutMs: SILENCE_MS,
      idleTimeoutMs: SILENCE_MS,
      signal: AbortSignal.any([limit, step.signal]),
    })
    return await received(step, response, { maxBytes, from: url })
  } catch (error) {
    if (error instanceof AppError && error.cause instanceof OutboundError)
      throw failed('The source of the file did not send all of it', error.cause)
    if (!(error instanceof OutboundError)) throw error
    throw failed('The source of the file could not be fetched', error)
  }
}

async function received(
  { ctx, projectId }: StepContext,
  response: OutboundResponse & { url: URL },
  { maxBytes, from }: { maxBytes: number; from: URL },
): Promise<FetchedFile> {
  const header = headerOf(response.headers)
  try {
    if (response.status < 200 || response.status > 299)
      throw failed(`The source of the file answered ${response.status}`)
    if ((header('content-encoding') ?? 'identity').toLowerCase() !== 'identity')
      throw failed('The source of the file sent it in a coding that was not asked for')
    const length = Number(header('content-length') ?? Number.NaN)
    const limits = Number.isSafeInteger(length) ? { maxBytes, statedBytes: length } : { maxBytes }
    const staged = await stageFile(ctx, projectId, piecesOf(response.body), limits)
    return {
      originalName: nameOf(from) ?? nameOf(response.url) ?? 'file',
      declaredType: header('content-type'),
      staged,
    }
  } finally {
    await leave(response)
  }
}

const headerOf =
  (headers: readonly HeaderPair[]) =>
  (name: string): string | null =>
    headers.find(([one]) => one === name)?.[1] ?? null

async function* piecesOf(body: OutboundResponse['body']): ByteStream & AsyncGenerator<Uint8Array> {
  if (body instanceof Uint8Array) yield body
  else if (body !== null) yield* body
}

/** The last part of the path, if it is a name with an extension. */
function nameOf({ pathname }: URL): string | null {
  const last = pathname.slice(pathname.lastIndexOf('/') + 1)
  if (!/[^.]\.[^.]+$/.test(last)) return null
  try {
    return decodeURIComponent(last)
  } catch {
    return last
  }
}

const failed = (message: string, cause?: unknown): AppError =>
  new AppError('bad_gateway', message, { code: 'SOURCE_FETCH_FAILED', cause })
