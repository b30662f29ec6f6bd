import { statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { storeEnv } from '../../config/store-access.ts'
import type { Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import { type DbOrTx, inTransaction } from '../../db/open.ts'
import { AppError, messageOf } from '../../domain/errors.ts'
import { requestState } from '../../http/request-facts.ts'
import { streamOf } from '../../http/stream-of.ts'
import { spawnBackup } from '../../platform/backup-process.ts'
import { writeLastBackup } from '../../platform/last-backup.ts'
import { OpenedFile } from '../../platform/opened-file.ts'
import { makeFolder } from '../../platform/owner.ts'
import { authorizeAgain, type Grant, personOf } from '../auth/authorize.ts'
import { type Proof, signInAgain } from '../auth/sign-in-again.ts'
import { diskSpace } from '../storage/floor.ts'
import { storedContents } from '../storage/service.ts'
import { findUser } from '../users/accounts.ts'
import { downloadName } from './names.ts'
import { placeOf } from './place-of.ts'
import { claimDownload } from './state.ts'

/** Fetching a backup needs no setting, and the proofs of a sign-in: it holds every secret. contract 17.8. */

/** A backup made now. Throws as `signInAgain`, 409 `BACKUP_RUNNING`, and 507 when there is no room for it. */
export async function downloadNew(
  ctx: Context,
  grant: Grant,
  proof: Proof,
  request: Request,
): Promise<Response> {
  const spend = await signInAgain(ctx, personOf(grant), proof)
  const { stop, release } = claimDownload(ctx)
  try {
    refuseNoRoom(ctx)
    begin(ctx, grant, spend)
    requestState(request).arrival.peer.allowSilence?.(true)
    const at = ctx.now()
    const made = await makeTemporary(ctx, AbortSignal.any([stop, request.signal]))
    try {
      record(ctx, grant, null)
    } catch (error) {
      made.close()
      throw error
    }
    writeLastBackup(ctx.config.dataDir, { at, how: 'download', by: personOf(grant).user.email })
    return attachment(at, made.sizeBytes, made.pieces())
  } finally {
    release()
  }
}

/** One of those in BACKUP_DIR. Throws as `signInAgain`, and 404 for one that is not there. */
export async function downloadStored(
  ctx: Context,
  grant: Grant,
  name: string,
  proof: Proof,
): Promise<Response> {
  const spend = await signInAgain(ctx, personOf(grant), proof)
  const place = placeOf(ctx)
  const found = (await place?.list())?.find((file) => file.name === name)
  if (place === null || found === undefined) throw new AppError('not_found', 'There is no such backup')
  const pieces = await place.read(name)
  begin(ctx, grant, spend)
  record(ctx, grant, name)
  return attachment(found.createdAt, found.sizeBytes, pieces)
}

/** What somebody has to send besides their session. */
export function proofOf(ctx: Context, grant: Grant): { password: boolean; code: boolean } {
  const user = findUser(ctx.db.orm, personOf(grant).user.id)
  return { password: user?.passwordHash !== null, code: (user?.totpSecret ?? null) !== null }
}

function begin(ctx: Context, grant: Grant, spend: (tx: DbOrTx) => void): void {
  inTransaction(ctx.db, (tx) => {
    authorizeAgain(ctx, grant, 'workspace:administer')
    spend(tx)
  })
}

/** Before the first byte. Whoever lost the right meanwhile gets none. */
function record(ctx: Context, grant: Grant, name: string | null): void {
  inTransaction(ctx.db, (tx) => {
    authorizeAgain(ctx, grant, 'workspace:administer')
    audit(ctx, tx, grant.actor, { action: 'backup.download', target: { kind: 'backup', id: null, name } })
  })
}

/**
 * A backup in a file that has no name any more: its room is free once it is closed, whatever becomes of the answer or of the
 * server.
 */
async function makeTemporary(ctx: Context, gone: AbortSignal): Promise<OpenedFile> {
  const dataDir = resolve(ctx.config.dataDir)
  const path = join(dataDir, 'tmp', `download-${ctx.newId()}.backup`)
  try {
    makeFolder(join(dataDir, 'tmp'))
    const child = spawnBackup(dataDir, path, storeEnv(ctx.config))
    gone.addEventListener('abort', () => child.kill())
    if (gone.aborted) child.kill()
    await child.done
    return await OpenedFile.open(path)
  } catch (error) {
    throw failureOf(error)
  } finally {
    await rm(path, { force: true })
  }
}

function failureOf(error: unknown): AppError {
  const message = messageOf(error)
  return /ENOSPC|EDQUOT|disk is full/i.test(message)
    ? new AppError('storage_full', NO_ROOM, { cause: error })
    : new AppError('internal', `The backup failed: ${message}`, { cause: error })
}

const NO_ROOM =
  'The disk of the server has no room to make a backup. Free some, or run svc backup with a place on another disk.'

/** The database once as a copy and once in the file, and everything else once. */
function refuseNoRoom(ctx: Context): void {
  const sizeOf = (name: string) =>
    statSync(join(ctx.config.dataDir, name), { throwIfNoEntry: false })?.size ?? 0
  const needed = 2 * (sizeOf('svc.db') + sizeOf('svc.db-wal')) + storedContents(ctx).bytes
  const { freeBytes: free } = diskSpace(ctx)
  if (free >= needed) return
  const message = `${free} bytes are free, and about ${needed} are needed`
  throw new AppError('storage_full', `${NO_ROOM} ${message}.`, {
    details: [{ path: 'freeBytes', message, free, needed }],
  })
}

function attachment(
  at: number,
  sizeBytes: number,
  pieces: AsyncGenerator<Uint8Array, void, undefined>,
): Response {
  return new Response(streamOf(pieces), {
    headers: {
      'content-type': 'application/octet-stream',
      'content-length': String(sizeBytes),
      'content-disposition': `attachment; filename="${downloadName(at)}"`,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    },
  })
}
