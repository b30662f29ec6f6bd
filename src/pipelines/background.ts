import type { Context } from '../context.ts'
import { flushGroupCommit } from '../db/group-commit.ts'
import { prepared } from '../db/statements.ts'
import { flushRuns } from '../modules/runs/service.ts'
import { settleWorks, trackWork } from './works.ts'

/** Post steps that run when the server stops get so long. What is cut off runs again after the next start. */
const SETTLE_MS = 1000

/**
 * Does what a server that died has left undone, and returns how to stop. The engine is loaded with its first request;
 * sandboxes end with the server, so that requests that are still running have them.
 */
export function startPipelines(ctx: Context): () => Promise<void> {
  if (prepared(ctx.db, 'SELECT 1 FROM post_steps LIMIT 1').get() !== null) void trackWork(ctx, resume(ctx))
  return async () => {
    await settleWorks(ctx, SETTLE_MS)
    flushGroupCommit(ctx.db)
    flushRuns(ctx)
  }
}

async function resume(ctx: Context): Promise<void> {
  try {
    const { resumePostSteps } = await import('./post-steps.ts')
    await resumePostSteps(ctx)
  } catch (error) {
    ctx.log.error('post steps could not be taken up', { error })
  }
}
