import type { Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import { inTidyingTransaction } from '../../db/tidying.ts'
import { GO_ON, type Stop } from '../../platform/in-steps.ts'
import { nextTurn } from '../../platform/next-turn.ts'
import { withoutDuePreviews } from '../aliases/previews/due.ts'
import type { Grant } from '../auth/authorize.ts'
import { findProjectById } from '../projects/service.ts'
import { freedBytes } from './freed-bytes.ts'
import { NO_POLICY, type Policy, type RunView } from './model.ts'
import { planRetention } from './plan.ts'
import { findPolicy, listContentIds, putLastRun } from './queries.ts'
import { type Removal, removePlanned } from './remove.ts'

/** What a run by this policy would remove. */
export async function tryRetention(ctx: Context, projectId: string, policy: Policy): Promise<RunView> {
  await withoutDuePreviews(ctx)
  const { going, removed, kept } = await planRetention(ctx, projectId, policy)
  const bytes = await freedBytes(ctx, await filesOf(ctx, going))
  return { dryRun: true, removed, removedCount: going.length, bytes, kept }
}

/** Removes by the project's policy. A failure leaves whole deployments, and what was removed until then is recorded. */
export async function runRetention(
  ctx: Context,
  grant: Grant,
  projectId: string,
  stop: Stop = GO_ON,
): Promise<RunView> {
  const policy = findPolicy(ctx.db, projectId) ?? NO_POLICY
  await withoutDuePreviews(ctx)
  const { going, kept } = await planRetention(ctx, projectId, policy)
  const removal: Removal = { removed: [], removedCount: 0, contents: new Set(), kept }
  try {
    await removePlanned(ctx, grant, projectId, going, removal, stop)
  } catch (error) {
    if (removal.removedCount > 0) await recordRun(ctx, grant, projectId, policy, removal)
    throw error
  }
  const bytes = await recordRun(ctx, grant, projectId, policy, removal)
  const { removed, removedCount } = removal
  return { dryRun: false, removed, removedCount, bytes, kept }
}

/** Returns the bytes that the disk gets back. */
async function recordRun(
  ctx: Context,
  grant: Grant,
  projectId: string,
  { keepLast, keepDays }: Policy,
  { removedCount, contents }: Removal,
): Promise<number> {
  const left = new Map<number, number>()
  for (const id of contents) left.set(id, 0)
  const bytes = await freedBytes(ctx, left)
  inTidyingTransaction(ctx.db, (tx) => {
    const project = findProjectById(ctx, projectId)
    if (project === undefined) return
    putLastRun(ctx.db, projectId, ctx.now(), removedCount, bytes)
    audit(ctx, tx, grant.actor, {
      action: 'retention.run',
      target: { kind: 'project', id: projectId, name: `${project.owner}/${project.name}` },
      projectId,
      after: { keepLast, keepDays, removedCount, bytes },
    })
  })
  return bytes
}

const FILES_AT_ONCE = 5000

/** How many files of these deployments have each content. */
async function filesOf(ctx: Context, going: readonly string[]): Promise<Map<number, number>> {
  const files = new Map<number, number>()
  let read = 0
  for (const id of going) {
    const contents = listContentIds(ctx.db, id)
    for (const content of contents) files.set(content, (files.get(content) ?? 0) + 1)
    read += contents.length + 1
    if (read < FILES_AT_ONCE) continue
    read = 0
    await nextTurn()
  }
  return files
}
