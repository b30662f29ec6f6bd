import type { Context } from '../../context.ts'
import { DAY_MS } from '../../domain/durations.ts'
import { invalidField } from '../../domain/errors.ts'
import { isoTime, parseTime } from '../../domain/iso-time.ts'
import type { Grant } from '../auth/authorize.ts'
import { projectOf } from '../projects/service.ts'
import { limitOf } from './asked.ts'
import type { ErrorsQuery, Failures } from './model.ts'
import { type FailedRow, type FailureSpan, listFailed } from './queries.ts'

export type { Failures } from './model.ts'

/** Requests of one method and path with one status, the newest first. */
type Failure = Pick<FailedRow, 'status' | 'method' | 'path'> & {
  requests: number
  lastAt: number
  samples: FailedRow[]
}

const SAMPLES = 5

/** What failed on the sites of the project, most requests first. contract 17.7. */
export function getFailures(ctx: Context, grant: Grant, query: ErrorsQuery): Failures {
  const { id: projectId } = projectOf(ctx, grant)
  const to = parseTime('to', query.to) ?? ctx.now() + 1
  const from = parseTime('from', query.from) ?? to - DAY_MS
  if (from >= to) throw invalidField('from', 'A time before `to`')
  const limit = limitOf(query.limit)
  const failures = findFailures(ctx, { projectId, from, to, statuses: statusesOf(query.status) })
  return { errors: failures.slice(0, limit).map(viewOf), total: failures.length }
}

/** The same for whoever was let in already, of the newest failures. */
export function findFailures(ctx: Context, span: FailureSpan): Failure[] {
  ctx.requestLog.flush()
  const failures = new Map<string, Failure>()
  for (const row of listFailed(ctx.requestLog.db, span)) {
    const { status, method, path, at, weight } = row
    const key = `${status} ${method} ${path}`
    const known = failures.get(key)
    if (known === undefined)
      failures.set(key, { status, method, path, requests: weight, lastAt: at, samples: [row] })
    else {
      known.requests += weight
      known.lastAt = Math.max(known.lastAt, at)
      if (known.samples.length < SAMPLES) known.samples.push(row)
    }
  }
  return [...failures.values()].sort((a, b) => b.requests - a.requests || b.lastAt - a.lastAt)
}

function viewOf({ samples, lastAt, ...failure }: Failure): Failures['errors'][number] {
  return {
    ...failure,
    lastAt: isoTime(lastAt),
    samples: samples.map(({ id, at, host, durationUs, referrer, userAgent }) => ({
      id: String(id),
      at: isoTime(at),
      host,
      durationMs: durationUs / 1000,
      referrer,
      userAgent,
    })),
  }
}

/** A status, `4xx`, `5xx` or `all` of both. */
function statusesOf(text: string | undefined): FailureSpan['statuses'] {
  if (text === undefined || text === '' || text === '5xx') return { from: 500, to: 599 }
  if (text === '4xx') return { from: 400, to: 499 }
  if (text === 'all') return { from: 400, to: 599 }
  if (/^[45]\d\d$/.test(text)) return { from: Number(text), to: Number(text) }
  throw invalidField('status', 'A status from 400 to 599, 4xx, 5xx or all')
}
