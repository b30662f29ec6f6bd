import type { Context } from '../context.ts'
import { flushGroupCommit } from '../db/group-commit.ts'
import { prepared } from '../db/statements.ts'
import { flushRuns } from '../modules/runs/service.ts'
import { trackWork, waitForWork } from './track-work.ts'

/** How long the stop waits for running post steps. Those that are cut off run again after the next start. */
const WAIT_MS = 1000

/** Runs the post steps that a crashed server left behind. The engine loads with its first request. */
export function resumePipelines(ctx: Context): void {
  if (prepared(ctx.db, 'SELECT 1 FROM post_steps LIMIT 1').get() !== null) void trackWork(ctx, resume(ctx))
}

/** The sandboxes end with the server, so that running requests can still use them. */
export async function endPipelines(ctx: Context): Promise<void> {
  await waitForWork(ctx, WAIT_MS)
  flushGroupCommit(ctx.db)
  flushRuns(ctx)
}

async function resume(ctx: Context): Promise<void> {
  try {
    const { resumePostSteps } = await import('./post-steps.ts')
    await resumePostSteps(ctx)
  } catch (error) {
    ctx.log.error('post steps could not be resumed', { error })
  }
}
