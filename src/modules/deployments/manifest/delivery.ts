import type { Caller, Context } from '../../../context.ts'
import type { DbOrTx } from '../../../db/open.ts'
import { HOUR_MS, WEEK_MS } from '../../../domain/durations.ts'
import { AppError } from '../../../domain/errors.ts'
import { isSha256 } from '../../../domain/names.ts'
import { type ArchiveEntry, refusedEntry } from '../../../platform/archive/entry.ts'
import { readTarTogether } from '../../../platform/archive/tar.ts'
import type { BlobStage } from '../../../platform/blob-store.ts'
import { givingBack, limitBytes } from '../../../platform/byte-stream.ts'
import type { Project } from '../../projects/service.ts'
import { listStored, openStage } from '../blob-queries.ts'
import { commitStaged } from '../commit-staged.ts'
import { authorizeUploadTo, callerNow } from '../publish/access.ts'
import { recordBlobs } from '../publish/record.ts'
import { commitUpload, type Published } from '../publish.ts'
import { archiveLimits } from '../upload/archive.ts'
import { uploadBody } from '../upload/body.ts'
import type { UploadedFile } from '../upload/files.ts'
import { contentsOf, type Manifest, refuseWrongSizes } from './parse.ts'
import { PublishedMeanwhile } from './published.ts'
import {
  claimUpload,
  findHoldings,
  findUpload,
  type Holdings,
  noteDeployment,
  type UploadRow,
  upsertUploadBlobs,
} from './queries.ts'
import { type RecentUpload, takeRecentUpload } from './recent.ts'
import { asReleasing } from './releasing.ts'

/** How long a delta upload and the contents it received are kept. */
export const UPLOAD_MS = HOUR_MS

/** Receives the contents of one request body for one upload. */
export class Delivery {
  readonly #ctx: Context
  readonly #caller: Caller
  readonly #upload: UploadRow
  readonly #manifest: Manifest
  readonly #contents: ReadonlyMap<string, number>
  readonly #stage: BlobStage
  readonly #arrived = new Set<string>()
  /** Which of the contents existed when `db.writes` was `heldAt`; valid as long as nothing is written. */
  #holdings: Holdings
  #heldAt: number
  /** `db.writes` at the time when nothing was missing. */
  #completeAt = -1

  constructor(ctx: Context, caller: Caller, upload: UploadRow) {
    this.#ctx = ctx
    this.#caller = caller
    this.#upload = upload
    const known = takeRecentUpload(ctx, upload.id) ?? readUpload(upload)
    this.#manifest = known.manifest
    this.#contents = known.contents
    this.#holdings = known.holdings
    this.#heldAt = known.heldAt
    this.#stage = openStage(ctx)
  }

  /** Receives the body. Contents that arrived complete are kept if the rest can still follow. */
  async receive(request: Request): Promise<void> {
    try {
      await this.#stageContents(request)
      this.#refuseIncomplete()
    } catch (error) {
      if (error instanceof AppError && error.kind === 'invalid') await this.#keepArrived()
      throw error
    }
  }

  publish(): Promise<Published> {
    const { publication, files, checks = null } = this.#manifest
    const publishing = commitUpload(
      this.#ctx,
      this.#caller,
      this.#stage,
      { publication, files, checks },
      (tx) => this.#claim(tx),
      (tx, deploymentId, release) => {
        noteDeployment(tx, this.#upload.id, deploymentId, release)
        if (checks !== null) this.#keepChecks(checks)
      },
    )
    return asReleasing(this.#ctx, this.#upload.id, publishing)
  }

  /** No file of the deployment refers to a checks file, which comes with the next publish again. */
  #keepChecks({ sha256 }: UploadedFile): void {
    upsertUploadBlobs(this.#ctx.db, this.#upload.projectId, [sha256], this.#ctx.now() + WEEK_MS)
  }

  #claim(tx: DbOrTx): Project {
    const caller = callerNow(this.#ctx, this.#caller)
    const project = authorizeUploadTo(this.#ctx, caller, this.#upload.projectId)
    // Contents that the project had at the start of the body may be gone with a deleted deployment.
    if (this.#ctx.db.writes !== this.#completeAt) this.#refuseIncomplete()
    if (!claimUpload(tx, this.#upload.id, this.#ctx.now())) throw new PublishedMeanwhile()
    return project
  }

  discard(): Promise<void> {
    return this.#stage.discard()
  }

  async #stageContents(request: Request): Promise<void> {
    const { maxUploadBytes } = this.#ctx.config
    const body = uploadBody(this.#ctx, request)
    if (body === null) return
    const { held, elsewhere } = this.#holdingsNow()
    const missing = [...this.#contents.keys()].filter((sha256) => !held.has(sha256))
    this.#stage.expect(missing, () => listStored(this.#ctx.db, elsewhere))
    const bytes = limitBytes(body, maxUploadBytes, 'The request body')
    for await (const entries of readTarTogether(bytes, archiveLimits(this.#ctx)))
      for (const entry of entries) {
        const wait = this.#stageContent(entry, held)
        if (wait !== undefined) await wait
      }
  }

  /** Skips contents that the project had at the start of the body. If they go meanwhile, they count as missing. */
  #stageContent(entry: ArchiveEntry, held: ReadonlyMap<string, number>): Promise<void> | undefined {
    if (entry.linkTo !== undefined) throw refusedEntry(entry.path, 'is a hard link: send each content once')
    const sha256 = nameOf(entry)
    const sizeBytes = this.#contents.get(sha256)
    if (sizeBytes === undefined)
      throw new AppError('invalid', `${entry.path.slice(0, 200)} is not in the manifest`)
    if (this.#arrived.has(sha256) || held.has(sha256)) return undefined
    if (entry.sizeBytes !== sizeBytes)
      throw new AppError('invalid', `${sha256} has ${entry.sizeBytes} bytes; the manifest says ${sizeBytes}`)
    if (!(entry.body instanceof Uint8Array))
      return this.#stage.add(givingBack(entry.body), undefined, sha256).then(() => {
        this.#arrived.add(sha256)
      })
    const wait = this.#stage.addSmall(entry.body, sha256)
    this.#arrived.add(sha256)
    return wait
  }

  #holdingsNow(): Holdings {
    const { db } = this.#ctx
    if (db.writes !== this.#heldAt) {
      const asked = [...this.#contents.keys()].filter((sha256) => !this.#arrived.has(sha256))
      this.#holdings = findHoldings(db, this.#upload.projectId, asked, this.#ctx.now())
      this.#heldAt = db.writes
    }
    return this.#holdings
  }

  /** Throws `UPLOAD_INCOMPLETE` for contents that were neither sent nor present; the upload stays open for them. */
  #refuseIncomplete(): void {
    const { held } = this.#holdingsNow()
    const missing = [...this.#contents.keys()].filter(
      (sha256) => !this.#arrived.has(sha256) && !held.has(sha256),
    )
    const [first] = missing
    if (first !== undefined)
      throw new AppError(
        'invalid',
        `${missing.length} of the contents are still missing, such as ${first}: send them to this upload`,
        { code: 'UPLOAD_INCOMPLETE' },
      )
    refuseWrongSizes(this.#contents, held)
    this.#completeAt = this.#ctx.db.writes
  }

  /** Failures here are only logged: the caller throws the error of the body itself. */
  async #keepArrived(): Promise<void> {
    if (this.#arrived.size === 0) return
    const { projectId, id } = this.#upload
    try {
      const stored = await this.#stage.seal()
      commitStaged(this.#ctx.db, this.#stage, (tx) => {
        // Deleted with its project, or ended with its sender's key.
        if (findUpload(tx, id) === undefined) throw new AppError('not_found', 'There is no such upload')
        callerNow(this.#ctx, this.#caller)
        recordBlobs(this.#ctx, this.#manifest.files, stored)
        upsertUploadBlobs(this.#ctx.db, projectId, this.#arrived, this.#ctx.now() + UPLOAD_MS)
      })
    } catch (error) {
      if (!(error instanceof AppError))
        this.#ctx.log.error('the contents of an interrupted upload could not be kept', { error })
    }
  }
}

/** Reads an upload from its row, which only `beginUpload` writes. The project's contents are still to be looked up. */
function readUpload({ id, manifest: text }: UploadRow): RecentUpload {
  const manifest = JSON.parse(text) as Manifest
  return {
    uploadId: id,
    manifest,
    contents: contentsOf(manifest),
    holdings: { held: new Map(), elsewhere: [] },
    heldAt: -1,
  }
}

const nameOf = ({ path }: ArchiveEntry): string =>
  isSha256(path) ? path : path.replace(/^(\.\/)+/, '').toLowerCase()
