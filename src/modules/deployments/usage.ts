import type { Context } from '../../context.ts'
import { nextTurn } from '../../platform/next-turn.ts'
import { listFileContents, totalsOf } from '../files/usage.ts'
import { listContents, listIdsOfProject, type Stored, sumPublished, sumStored } from './queries.ts'

export type { Stored } from './queries.ts'

/** What a project stores: `bytes` as published and uploaded, `uniqueBytes` with each content counted once. */
type ProjectUsage = {
  deployments: number
  files: number
  bytes: number
  uniqueBytes: number
  uploads: number
  uploadBytes: number
}

export const usageOfProject = async (ctx: Context, projectId: string): Promise<ProjectUsage> => {
  const { files: uploads, bytes: uploadBytes } = totalsOf(ctx.db, projectId)
  const { bytes, ...published } = sumPublished(ctx.db, projectId)
  return {
    ...published,
    bytes: bytes + uploadBytes,
    uniqueBytes: await sumUnique(ctx, projectId),
    uploads,
    uploadBytes,
  }
}

/** Reads one deployment at a time, so that nobody waits. */
async function sumUnique({ db }: Context, projectId: string): Promise<number> {
  const uploaded = listFileContents(db, projectId)
  const seen = new Set(uploaded.map(({ sha256 }) => sha256))
  let bytes = uploaded.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
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
