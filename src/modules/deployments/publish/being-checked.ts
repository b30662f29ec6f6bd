import type { Context } from '../../../context.ts'
import { onePer } from '../../../platform/one-per.ts'

const running = onePer((_: Context) => new Map<string, number>())

/** Whether the release of a deployment is checked just now: what was checked goes live, so nothing may be added to it. */
export const isBeingChecked = (ctx: Context, deploymentId: string): boolean => running(ctx).has(deploymentId)

export async function whileChecked<T>(
  ctx: Context,
  deploymentId: string,
  work: () => Promise<T>,
): Promise<T> {
  const counts = running(ctx)
  counts.set(deploymentId, (counts.get(deploymentId) ?? 0) + 1)
  try {
    return await work()
  } finally {
    const left = (counts.get(deploymentId) ?? 1) - 1
    if (left === 0) counts.delete(deploymentId)
    else counts.set(deploymentId, left)
  }
}
