import type { Context } from '../../context.ts'
import { inTransaction } from '../../db/open.ts'
import { inTidyingTransaction } from '../../db/tidying.ts'
import { DAY_MS } from '../../domain/durations.ts'
import { AppError } from '../../domain/errors.ts'
import { nextTurn } from '../../platform/next-turn.ts'
import { insertBlobs } from '../deployments/blob-queries.ts'
import { commitStaged } from '../deployments/commit-staged.ts'
import type { KnownBlob } from '../deployments/traits.ts'
import { isProjectThere } from '../projects/removed.ts'
import { withinQuota } from '../quotas/check.ts'
import {
  deleteSomeFiles,
  deleteSpentBefore,
  findFileRow,
  findPlaceRow,
  markRegistered,
  putFileRow,
  putSpent,
  type StoredFile,
  spentAt,
  sumFiles,
  totalsOf,
  type Which,
} from './queries.ts'
import { refuseFullProject } from './room.ts'
import type { StagedFile } from './stage.ts'

export type { StoredFile, Which } from './queries.ts'
export { refuseBeyondRoom } from './room.ts'
export { fileTooLarge, type StagedFile, stageAgain, stageFile } from './stage.ts'

/** The files of a project, which the handlers of pipelines, both addresses, the API and the admin go through. contract 14.2. */

/** Sends the bytes as a download in which nothing runs: by the site engine, which lower layers do not import. */
export type ServeDownload = (ctx: Context, request: Request, file: StoredFile) => Response | Promise<Response>

type NewFile = { projectId: string; path: string; contentType: string; isRegistered: boolean }

/**
 * Commits the file and what belongs to it, such as its record, in one transaction; on the disk when it resolves. A file of
 * that path is replaced. If anything throws, also `also`, nothing is kept.
 */
export async function keepFile<T = undefined>(
  ctx: Context,
  file: NewFile,
  staged: StagedFile,
  also?: (file: StoredFile) => T,
): Promise<{ file: StoredFile; result: T }> {
  try {
    const blobs = await staged.stage.seal()
    return commitStaged(ctx.db, staged.stage, () => {
      insertBlobs(ctx, blobs)
      const stored = withinBounds(ctx, file.projectId, staged.size, () => putFile(ctx, file, staged))
      return { file: stored, result: also?.(stored) as T }
    })
  } catch (error) {
    await staged.discard()
    throw error
  }
}

/** Where its bytes are now; null once it is deleted. */
export const findPlace = ({ db }: Context, { id }: StoredFile): KnownBlob | null => findPlaceRow(db, id)

/** Undefined, too, for a project that was deleted. */
export const findFile = ({ db }: Context, projectId: string, path: string): StoredFile | undefined =>
  isProjectThere(db, projectId) ? findFileRow(db, projectId, path) : undefined

/**
 * Notes that `also` makes a record of the file, in one transaction. Upload addresses issued before are spent. Throws 409 if it
 * is no longer the file that was looked at.
 */
export function registerFile<T>(
  ctx: Context,
  file: StoredFile,
  also: () => T extends Promise<unknown> ? never : T,
): T {
  const { db } = ctx
  const { projectId, path } = file
  return inTransaction(db, () => {
    const now = findFile(ctx, projectId, path)
    if (now === undefined || now.sha256 !== file.sha256 || now.contentType !== file.contentType)
      throw new AppError('conflict', 'The file was replaced or removed while it was looked at; try again')
    markRegistered(db, now.id)
    // Later than whatever was issued, although a clock may stand still or be set back.
    putSpent(db, projectId, path, Math.max(ctx.now(), (spentAt(db, projectId, path) ?? 0) + 1))
    deleteSpentBefore(db, ctx.now() - DAY_MS, 100)
    return also()
  })
}

export type Deleted = { deleted: number; bytes: number }
type DeleteOptions = { dryRun?: boolean; also?: (deleted: Deleted) => void }

const AT_ONCE = 2000

/**
 * Deletes a folder of files, or those of these paths. Records that name them stay. The first 2000 go in one transaction with
 * `also`, the rest in steps, so that nobody waits.
 */
export async function deleteFiles(
  ctx: Context,
  projectId: string,
  which: Which,
  { dryRun = false, also = () => undefined }: DeleteOptions = {},
): Promise<Deleted> {
  const { db } = ctx
  const some = { until: Math.max(ctx.now(), 0), limit: AT_ONCE }
  if (dryRun) return deletedOf(ctx, projectId, which)
  const [result, first] = inTidyingTransaction(db, () => {
    const found = deletedOf(ctx, projectId, which)
    also(found)
    return [found, deleteSomeFiles(db, projectId, which, some)] as const
  })
  for (let last = first; last === AT_ONCE; ) {
    await nextTurn()
    last = inTidyingTransaction(db, () => deleteSomeFiles(db, projectId, which, some))
  }
  return result
}

function deletedOf({ db }: Context, projectId: string, which: Which): Deleted {
  const { files, bytes } = sumFiles(db, projectId, which)
  return { deleted: files, bytes }
}

function putFile(ctx: Context, file: NewFile, { sha256, size }: StagedFile): StoredFile {
  const { db } = ctx
  if (!isProjectThere(db, file.projectId)) throw new AppError('not_found', 'There is no such project')
  const before = findFileRow(db, file.projectId, file.path)
  const now = ctx.now()
  const { id, createdAt } = before ?? { id: ctx.newId(), createdAt: now }
  const stored: StoredFile = { ...file, id, sha256, size, createdAt, updatedAt: now }
  putFileRow(db, stored)
  return stored
}

/** Both bounds as they are when the file is stored: others may have stored something meanwhile. */
function withinBounds<T>(ctx: Context, projectId: string, size: number, put: () => T): T {
  const { bytes: before } = totalsOf(ctx.db, projectId)
  return withinQuota(ctx, projectId, size, () => {
    const result = put()
    refuseFullProject(ctx, before, totalsOf(ctx.db, projectId).bytes - before)
    return result
  })
}
