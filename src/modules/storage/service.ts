import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Context } from '../../context.ts'
import { MINUTE_MS } from '../../domain/durations.ts'
import { isoTime } from '../../domain/iso-time.ts'
import { isRecent } from '../../domain/recent.ts'
import { nextTurn } from '../../platform/next-turn.ts'
import type { Grant } from '../auth/authorize.ts'
import { type Stored, usageOfContents, usageOfProject } from '../deployments/usage.ts'
import { allNames } from '../projects/service.ts'
import { listQuotas, NO_QUOTA } from '../quotas/service.ts'
import { type DiskSpace, diskSpace } from './floor.ts'
import type { ProjectStorage, Storage } from './model.ts'

export type { ProjectStorage, Storage } from './model.ts'

/** Reading all rows takes long, so the result is cached for this long. */
const KEEP_MS = MINUTE_MS

type Measured = Omit<Storage, keyof DiskSpace | 'projects' | 'store'> & {
  projects: Omit<ProjectStorage, 'quota'>[]
}
type Kept = { at: number; storage: Promise<Measured> }
const keptOf = new WeakMap<Context, Kept>()

/** How much disk space everything uses, at most a minute old; free space and quotas are as of now. */
export async function getStorage(ctx: Context, _grant: Grant): Promise<Storage> {
  const { projects, ...measured } = await measuredStorage(ctx)
  const quotas = listQuotas(ctx.db)
  const withQuotas = projects.map((one) => ({ ...one, quota: quotas.get(one.projectId) ?? NO_QUOTA }))
  return { projects: withQuotas, ...measured, ...diskSpace(ctx), store: inStore(ctx, measured) }
}

function inStore(
  { blobs }: Context,
  { contents, contentBytes }: Pick<Measured, 'contents' | 'contentBytes'>,
): Storage['store'] {
  if (blobs.remote === null) return null
  const { bytes, limitBytes } = blobs.remote.cache
  return { contents, bytes: contentBytes, cacheBytes: bytes, cacheLimitBytes: limitBytes }
}

function measuredStorage(ctx: Context): Promise<Measured> {
  const kept = keptOf.get(ctx)
  if (kept !== undefined && isRecent(kept.at, ctx.now(), KEEP_MS)) return kept.storage
  const storage = measure(ctx)
  keptOf.set(ctx, { at: ctx.now(), storage })
  storage.catch(() => keptOf.delete(ctx))
  return storage
}

async function measure(ctx: Context): Promise<Measured> {
  const projects: Measured['projects'] = []
  for (const { id: projectId, owner, name } of allNames(ctx.db)) {
    projects.push({ projectId, owner, name, ...(await usageOfProject(ctx, projectId)) })
    // Lets requests run between two projects.
    await nextTurn()
  }
  const stored = usageOfContents(ctx)
  return {
    projects: projects.sort((a, b) => b.uniqueBytes - a.uniqueBytes),
    contents: stored.contents,
    contentBytes: stored.bytes,
    diskBytes: await bytesBelow(ctx.config.dataDir),
    measuredAt: isoTime(ctx.now()),
  }
}

const STORED_KEEP_MS = 10 * MINUTE_MS
const storedOf = new WeakMap<Context, { at: number; stored: Stored }>()

/** The sums of all contents, at most ten minutes old: for frequent requests. */
export function storedContents(ctx: Context): Stored {
  const kept = storedOf.get(ctx)
  if (kept !== undefined && isRecent(kept.at, ctx.now(), STORED_KEEP_MS)) return kept.stored
  const stored = usageOfContents(ctx)
  storedOf.set(ctx, { at: ctx.now(), stored })
  return stored
}

/** Files that disappear meanwhile do not count. */
async function bytesBelow(folder: string): Promise<number> {
  let bytes = 0
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) bytes += await bytesBelow(path)
    else if (entry.isFile()) bytes += await stat(path).then(onDisk, () => 0)
  }
  return bytes
}

/** Blocks count as 512 bytes, whatever the file system's block size. */
const onDisk = ({ blocks }: { blocks: number }): number => blocks * 512
