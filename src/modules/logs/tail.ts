import type { Context } from '../../context.ts'
import type { LoggedRequest } from '../../db/request-log/row.ts'
import type { Action } from '../../domain/access.ts'
import { MINUTE_MS } from '../../domain/durations.ts'
import { AppError } from '../../domain/errors.ts'
import { onePer } from '../../platform/one-per.ts'
import { authorizeAgain, type Grant } from '../auth/authorize.ts'
import { projectOf } from '../projects/service.ts'
import { parseBots, parsePlace, parseStatus, requestView } from './requests.ts'
import { listRequestsAfter } from './requests-queries.ts'

type TailQuery = {
  projectId?: string | undefined
  status?: string | undefined
  bots?: string | undefined
  after?: string | undefined
  place?: string | undefined
}

/** A keep-alive, sent well before a silent connection would be closed. */
const COMMENT_MS = 20_000
/** Then the browser reconnects automatically. */
const LONGEST_MS = 5 * MINUTE_MS
const MAX_TAILS = 20
/** How many missed rows a reconnecting browser gets. */
const MAX_MISSED = 500
/** A reader who falls behind misses rows, and is told how many. */
const MAX_QUEUED = 1000

/** Functions that end the open streams. */
const tailsOf = onePer((_: Context) => new Set<() => void>())

/**
 * The request log as it grows, as server-sent events: `request` with a row, whose id is the event's; `skipped` with the
 * number of rows that a slow reader missed. `after` (or `Last-Event-ID`) returns what came since. Ends before the next
 * row once the reader may not see it anymore. Throws 429 when too many people watch.
 */
export const tailRequests = (
  ctx: Context,
  grant: Grant,
  query: TailQuery,
  lastEventId: string | null,
): Response => tail(ctx, { grant, action: 'workspace:administer' }, query, lastEventId)

/** The same of the project of the grant. */
export const tailOfProject = (
  ctx: Context,
  grant: Grant,
  query: TailQuery,
  lastEventId: string | null,
): Response => {
  const own = { ...query, projectId: projectOf(ctx, grant).id, place: 'all' }
  return tail(ctx, { grant, action: 'analytics:read' }, own, lastEventId)
}

/** Who reads, and what they must be allowed. */
type Reader = { grant: Grant; action: Action }

function tail(ctx: Context, reader: Reader, query: TailQuery, lastEventId: string | null): Response {
  const tails = tailsOf(ctx)
  if (tails.size >= MAX_TAILS)
    throw new AppError('rate_limited', 'Too many readers watch the log. Close one of them and try again.', {
      headers: { 'retry-after': '30' },
    })
  const isWanted = wanted(query)
  const since = parseId(lastEventId ?? query.after)
  let end = (): void => {}
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        end = follow(ctx, reader, { tails, controller, isWanted, since })
      },
      cancel: () => end(),
    },
    { highWaterMark: MAX_QUEUED },
  )
  return new Response(body, {
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      // Otherwise nginx would buffer it.
      'x-accel-buffering': 'no',
    },
  })
}

/** Called when the server stops: an open stream would delay it. */
export function endTails(ctx: Context): void {
  for (const end of [...tailsOf(ctx)]) end()
}

type Tail = {
  tails: Set<() => void>
  controller: ReadableStreamDefaultController<Uint8Array>
  isWanted: (row: LoggedRequest) => boolean
  since: number | undefined
}

function follow(ctx: Context, reader: Reader, { tails, controller, isWanted, since }: Tail): () => void {
  const encoder = new TextEncoder()
  let skipped = 0
  const send = (text: string) => controller.enqueue(encoder.encode(text))
  const show = (row: LoggedRequest): void => {
    if (!isWanted(row)) return
    if ((controller.desiredSize ?? 0) <= 0) {
      skipped += row.weight
      return
    }
    if (skipped > 0) send(`event: skipped\ndata: {"requests":${skipped}}\n\n`)
    skipped = 0
    send(`id: ${row.id}\nevent: request\ndata: ${JSON.stringify(requestView(row))}\n\n`)
  }
  const end = (): void => {
    stopListening()
    clearInterval(comments)
    clearTimeout(longest)
    if (!tails.delete(end)) return
    try {
      controller.close()
    } catch {
      // The reader is already gone.
    }
  }
  ctx.requestLog.flush()
  const stopListening = ctx.requestLog.listen((rows) => {
    if (maySeeStill(ctx, reader)) rows.forEach(show)
    else end()
  })
  const comments = setInterval(() => send(': still here\n\n'), COMMENT_MS).unref()
  const longest = setTimeout(end, LONGEST_MS).unref()
  tails.add(end)
  send('retry: 2000\n\n')
  if (since !== undefined)
    for (const row of listRequestsAfter(ctx.requestLog.db, since, MAX_MISSED)) show(row)
  return end
}

/** The session may have ended, or the role may have been taken away, since the tail began. */
function maySeeStill(ctx: Context, { grant, action }: Reader): boolean {
  try {
    authorizeAgain(ctx, grant, action, true)
    return true
  } catch {
    return false
  }
}

/** 0 comes before all of them. */
const parseId = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined

function wanted(query: TailQuery): (row: LoggedRequest) => boolean {
  const projectId = query.projectId || undefined
  const status = parseStatus(query.status)
  const isBot = parseBots(query.bots)
  const ofProject = parsePlace(query.place)
  return (row) =>
    (projectId === undefined || row.projectId === projectId) &&
    (status === undefined || (row.status >= status.from && row.status <= status.to)) &&
    (isBot === undefined || (row.bot !== null) === isBot) &&
    (ofProject === undefined || (row.projectId !== null) === ofProject)
}
