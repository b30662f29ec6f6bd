import { prepared } from '../../../db/statements.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../domain/durations.ts'
import { previewCount } from '../../aliases/previews.ts'
import type { Check } from './check.ts'

/** It runs once a day. */
const RETENTION_LATE_MS = DAY_MS + 2 * HOUR_MS
/** Ended previews are removed each minute. */
const PREVIEWS_LATE_MS = 5 * MINUTE_MS

type Rules = { projects: number; late: number; lastRunAt: number | null }

/** `value`: how many projects have rules. */
export const checkRetention: Check = (ctx) => {
  const found = prepared<Rules>(
    ctx.db,
    `SELECT count(*) AS projects, coalesce(sum(coalesce(last_run_at, changed_at) < ?), 0) AS late,
       max(last_run_at) AS lastRunAt
     FROM retention_policies r JOIN projects p ON p.id = r.project_id
     WHERE keep_last IS NOT NULL OR keep_days IS NOT NULL`,
  ).get(ctx.now() - RETENTION_LATE_MS)
  const { projects, late, lastRunAt: at } = found ?? { projects: 0, late: 0, lastRunAt: null }
  if (projects === 0) return { status: 'off', message: 'No project has rules of retention', value: 0 }
  if (late > 0) return { status: 'warn', message: `It is late in ${late} projects`, at, value: projects }
  return { status: 'ok', message: `Rules of ${projects} projects`, at, value: projects }
}

/** `value`: how many there are. */
export const checkPreviews: Check = (ctx) => {
  const value = previewCount(ctx)
  const late = prepared<{ n: number }>(
    ctx.db,
    'SELECT count(*) AS n FROM aliases WHERE expires_at <= ? AND is_locked = 0',
  ).get(ctx.now() - PREVIEWS_LATE_MS)
  if (late !== null && late.n > 0)
    return { status: 'warn', message: `${late.n} have ended and were not removed yet`, value }
  if (value === 0) return { status: 'off', message: 'There are no previews', value }
  return { status: 'ok', message: `${value} previews`, value }
}
