import type { Context } from '../../context.ts'
import { nextTurn } from '../../platform/next-turn.ts'
import { listContents, listIdsOfProject, type Stored, sumPublished, sumStored } from './queries.ts'

export type { Stored } from './queries.ts'

/** What a project stores: `bytes` as published, `uniqueBytes` with each content counted once. */
type ProjectUsage = { deployments: number; files: number; bytes: number; uniqueBytes: number }

export const usageOfProject = async (ctx: Context, projectId: string): Promise<ProjectUsage> => ({
  ...sumPublished(ctx.db, projectId),
  uniqueBytes: await sumUnique(ctx, projectId),
})

/** Reads one deployment at a time, so that nobody waits. */
async function sumUnique({ db }: Context, projectId: string): Promise<number> {
  const seen = new Set<string>()
  let bytes = 0
  for (const deploymentId of listIdsOfProject(db, projectId)) {
    for (const { sha256, sizeBytes } of listContents(db, deploymentId)) {
      if (!seen.has(sha256)) bytes += sizeBytes
      seen.add(sha256)
    }
    await nextTurn()
  }
  return bytes
}

/** Counts each content of the workspace once, and the compressed forms. */
export const usageOfContents = (ctx: Context): Stored => sumStored(ctx.db)
