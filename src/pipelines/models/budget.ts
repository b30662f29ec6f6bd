import type { Context } from '../../context.ts'
import { groupCommit } from '../../db/group-commit.ts'
import { prepared } from '../../db/statements.ts'
import { DAY_MS } from '../../domain/durations.ts'
import { AppError } from '../../domain/errors.ts'
import { onePer } from '../../platform/one-per.ts'

const MAX_AT_ONCE = 8
const askingOf = onePer((_: Context) => new Map<string, number>())

/** Counts a question of the project until the returned function is called. Throws 503 if too many are asked. */
export function takeTurn(ctx: Context, projectId: string): () => void {
  const asking = askingOf(ctx)
  const count = asking.get(projectId) ?? 0
  if (count >= MAX_AT_ONCE)
    throw new AppError('unavailable', `The project asks ${MAX_AT_ONCE} questions at once already`, {
      code: 'AI_BUSY',
      headers: { 'retry-after': '5' },
    })
  asking.set(projectId, count + 1)
  let isOver = false
  return () => {
    if (isOver) return
    isOver = true
    const left = (asking.get(projectId) ?? 1) - 1
    if (left === 0) asking.delete(projectId)
    else asking.set(projectId, left)
  }
}

/** Throws 429 if the project has used its tokens of the day. */
export function refuseSpent(ctx: Context, projectId: string): void {
  const limit = ctx.config.aiDailyTokens
  if (limit === 0) return
  const now = ctx.now()
  const row = prepared<{ day: number; tokens: number }>(
    ctx.db,
    'SELECT day, tokens FROM model_tokens WHERE project_id = ?',
  ).get(projectId)
  if (row === null || row.day < dayOf(now) || row.tokens < limit) return
  const seconds = Math.ceil(((dayOf(now) + 1) * DAY_MS - now) / 1000)
  throw new AppError(
    'rate_limited',
    `The project has used its ${limit} tokens of today (UTC). The operator sets AI_DAILY_TOKENS.`,
    { code: 'AI_BUDGET_SPENT', headers: { 'retry-after': String(seconds) } },
  )
}

/** Adds to what the project has used today. It is on the disk when this resolves. */
export async function spend(ctx: Context, projectId: string, tokens: number): Promise<void> {
  if (tokens === 0) return
  const day = dayOf(ctx.now())
  await groupCommit(ctx.db, (db) => {
    prepared(db, SPEND).run(projectId, day, tokens)
  })
}

/** A clock that was set back begins no new day. A project that is deleted meanwhile has nothing to count. */
const SPEND = `INSERT INTO model_tokens (project_id, day, tokens)
  SELECT id, ?2, ?3 FROM projects WHERE id = ?1
  ON CONFLICT (project_id) DO UPDATE SET
    tokens = CASE WHEN excluded.day > day THEN excluded.tokens ELSE tokens + excluded.tokens END,
    day = max(day, excluded.day)`

const dayOf = (now: number): number => Math.floor(now / DAY_MS)
