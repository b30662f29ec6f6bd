import type { Context } from '../../context.ts'
import { type Stored, sumPublished, sumStored, sumUnique } from './queries.ts'

export type { Stored } from './queries.ts'

/** What a project holds: `bytes` as published, `uniqueBytes` each content once, which is what it would need by itself. */
type ProjectUsage = { deployments: number; files: number; bytes: number; uniqueBytes: number }

export const usageOfProject = (ctx: Context, projectId: string): ProjectUsage => ({
  ...sumPublished(ctx.db, projectId),
  uniqueBytes: sumUnique(ctx.db, projectId),
})

/** Each content of the workspace once, and the compressed forms. */
export const usageOfContents = (ctx: Context): Stored => sumStored(ctx.db)
