import type { Caller, Context } from '../../../context.ts'
import { actorRef } from '../../../db/audit.ts'
import { inTransaction } from '../../../db/open.ts'
import { DAY_MS, HOUR_MS } from '../../../domain/durations.ts'
import { AppError } from '../../../domain/errors.ts'
import { isoTime } from '../../../domain/iso-time.ts'
import { isSha256 } from '../../../domain/names.ts'
import { MAX_SYNC_BYTES, parseJson, readBody } from '../../../http/json-body.ts'
import type { ArchiveEntry } from '../../../platform/archive/entry.ts'
import { readTarTogether } from '../../../platform/archive/tar.ts'
import type { BlobStage } from '../../../platform/blob-store.ts'
import { givingBack, limitBytes, tooLarge } from '../../../platform/byte-stream.ts'
import { asOfNow } from '../../auth/caller.ts'
import { contentsOf, type Manifest, manifestFields, parseManifest } from '../manifest.ts'
import {
  authorizeUpload,
  authorizeUploadTo,
  refuseEnded,
  requireUploadProject,
  uploaderOf,
} from '../publish/access.ts'
import { findDeploymentBySha, listPaths } from '../publish/queries.ts'
import { recordBlobs } from '../publish/record.ts'
import { commitUpload, openStage, type Published } from '../publish.ts'
import { asUpload } from '../upload/activity.ts'
import { ARCHIVE_TYPES, archiveLimits } from '../upload/archive.ts'
import { mediaTypeOf, unsupportedType, uploadBody } from '../upload/body.ts'
import { targetOf } from '../upload/fields.ts'
import { refuseClash, tooManyFiles } from '../upload/files.ts'
import {
  deleteUploadBlobsBefore,
  deleteUploadsBefore,
  findHoldings,
  findUpload,
  type Holdings,
  insertUpload,
  listStored,
  type UploadRow,
  upsertUploadBlobs,
} from './queries.ts'
import { keepRecentUpload, type RecentUpload, takeRecentUpload } from './recent.ts'

const UPLOAD_MS = HOUR_MS
/** An upload that expired is known for so much longer, so that its sender is told to begin anew. */
const REMEMBERED_MS = DAY_MS

type UploadSlot = { uploadId: string; missing: string[]; expiresAt: string }

/** First request of a delta upload: takes the manifest and says which contents this project does not hold yet. */
export async function beginUpload(ctx: Context, request: Request): Promise<UploadSlot> {
  const caller = uploaderOf(ctx, request)
  const body = await readManifest(request)
  const fields = manifestFields(body)
  const target = targetOf(fields)
  if (target !== undefined) authorizeUpload(ctx, caller, target)
  const manifest = parseManifest(ctx, body, fields)
  const contents = contentsOf(manifest.files)
  const begun = inTransaction(ctx.db, (tx) => {
    const project = requireUploadProject(ctx, tx, caller, manifest.publication)
    refuseHopeless(ctx, project.id, manifest)
    const holdings = findHoldings(ctx.db, project.id, contents.keys(), ctx.now())
    const { held } = holdings
    refuseWrongSizes(contents, held)
    const missing = [...contents.keys()].filter((sha256) => !held.has(sha256))
    const bytes = missing.reduce((sum, sha256) => sum + (contents.get(sha256) ?? 0), 0)
    if (bytes > ctx.config.maxUploadBytes) throw tooLarge('What is missing', ctx.config.maxUploadBytes)
    const upload: UploadRow = {
      id: ctx.newId(),
      projectId: project.id,
      manifest: JSON.stringify(manifest),
      createdBy: actorRef(caller.actor),
      expiresAt: ctx.now() + UPLOAD_MS,
    }
    insertUpload(tx, upload)
    return { upload, holdings, missing }
  })
  const { upload, holdings, missing } = begun
  keepRecentUpload(ctx, { uploadId: upload.id, manifest, contents, holdings, heldAt: ctx.db.writes })
  return { uploadId: upload.id, missing, expiresAt: isoTime(upload.expiresAt) }
}

/**
 * Second request: takes the missing contents and publishes. What of them arrived whole is kept for the next try when
 * the body is cut off, lacks files or holds wrong bytes; past a limit nothing is.
 */
export async function receiveContents(ctx: Context, request: Request, uploadId: string): Promise<Published> {
  const caller = uploaderOf(ctx, request)
  const upload = findUpload(ctx.db.orm, uploadId)
  authorizeUploadTo(ctx, caller, upload?.projectId ?? null)
  if (upload === undefined || upload.expiresAt <= ctx.now())
    throw new AppError('not_found', 'There is no such upload, or it has expired: send the manifest again')
  const type = mediaTypeOf(request)
  if (request.body !== null && ARCHIVE_TYPES.get(type) !== 'tar') throw unsupportedType(type, TAR_TYPE)
  return asUpload(ctx, () => deliver(ctx, caller, request, upload))
}

async function deliver(
  ctx: Context,
  caller: Caller,
  request: Request,
  upload: UploadRow,
): Promise<Published> {
  const delivery = new Delivery(ctx, caller, upload)
  try {
    await delivery.receive(request)
    return await delivery.publish()
  } catch (error) {
    await delivery.discard()
    throw error
  }
}

const TAR_TYPE = 'application/x-tar'

/** The contents of one body on their way into one upload. */
class Delivery {
  readonly #ctx: Context
  readonly #caller: Caller
  readonly #upload: UploadRow
  readonly #manifest: Manifest
  readonly #contents: ReadonlyMap<string, number>
  readonly #stage: BlobStage
  readonly #arrived = new Set<string>()
  /** Of the contents those that there were when `db.writes` was `heldAt`: it holds for as long as nobody writes. */
  #holdings: Holdings
  #heldAt: number
  /** `db.writes` when nothing was missing. */
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

  /** Takes the body in. What arrived whole is kept where the rest can follow. */
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
    return commitUpload(this.#ctx, this.#caller, this.#stage, this.#manifest, () => {
      refuseEnded(this.#ctx, this.#caller)
      const caller = asOfNow(this.#ctx, this.#caller)
      const project = authorizeUploadTo(this.#ctx, caller, this.#upload.projectId)
      // What the project held when the body began may have gone with a deployment that was deleted.
      if (this.#ctx.db.writes !== this.#completeAt) this.#refuseIncomplete()
      return project
    })
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

  /** Passes over what the project held when the body began: should that go meanwhile, it is missing in the end. */
  #stageContent(entry: ArchiveEntry, held: ReadonlyMap<string, number>): Promise<void> | undefined {
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

  /** Throws `UPLOAD_INCOMPLETE` for contents that neither came nor are held; the upload stays open for them. */
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

  /** A failure here is not the one to tell: the body's own follows. */
  async #keepArrived(): Promise<void> {
    if (this.#arrived.size === 0) return
    const { projectId, id } = this.#upload
    try {
      const stored = await this.#stage.seal()
      inTransaction(this.#ctx.db, (tx) => {
        // Gone with its project, or ended with its sender's key.
        if (findUpload(tx, id) === undefined) throw new AppError('not_found', 'There is no such upload')
        refuseEnded(this.#ctx, this.#caller)
        recordBlobs(this.#ctx, this.#manifest.files, stored)
        upsertUploadBlobs(this.#ctx.db, projectId, this.#arrived, this.#ctx.now() + UPLOAD_MS)
      })
      this.#stage.release()
    } catch (error) {
      if (!(error instanceof AppError)) this.#ctx.log.error('a cut-off upload could not be kept', { error })
    }
  }
}

/** From its row, which `beginUpload` writes and nobody else. Nothing is known of what the project holds. */
function readUpload({ id, manifest: text }: UploadRow): RecentUpload {
  const manifest = JSON.parse(text) as Manifest
  return {
    uploadId: id,
    manifest,
    contents: contentsOf(manifest.files),
    holdings: { held: new Map(), elsewhere: [] },
    heldAt: -1,
  }
}

const nameOf = ({ path }: ArchiveEntry): string =>
  isSha256(path) ? path : path.replace(/^(\.\/)+/, '').toLowerCase()

/** What the project holds is not of the size that the manifest says: one of the two is damaged. */
function refuseWrongSizes(contents: ReadonlyMap<string, number>, held: ReadonlyMap<string, number>): void {
  for (const [sha256, sizeBytes] of held) {
    const said = contents.get(sha256)
    if (said !== sizeBytes)
      throw new AppError('invalid', `${sha256} has ${sizeBytes} bytes; the manifest says ${said}`)
  }
}

/** What cannot be published in the end is refused before its contents are sent. */
function refuseHopeless(ctx: Context, projectId: string, { files, publication }: Manifest): void {
  const deployment = findDeploymentBySha(ctx.db.orm, projectId, publication.commitSha)
  if (deployment === undefined) return
  const paths = new Set(listPaths(ctx.db, deployment.id).map(({ path }) => path))
  for (const { path } of files) paths.add(path)
  if (paths.size > ctx.config.maxDeploymentFiles) throw tooManyFiles(ctx)
  refuseClash([...paths])
}

/** The body of the first request: JSON of up to 16 MiB, which is 50,000 files. */
async function readManifest(request: Request): Promise<unknown> {
  const type = mediaTypeOf(request)
  if (!/^application\/([\w.-]+\+)?json$/.test(type)) throw unsupportedType(type, 'application/json')
  return parseJson(await readBody(request, MAX_SYNC_BYTES))
}

/** Upkeep: what expired is forgotten, and contents that nothing else refers to are freed. */
export function removeExpiredUploads(ctx: Context): void {
  inTransaction(ctx.db, (tx) => {
    deleteUploadsBefore(tx, ctx.now() - REMEMBERED_MS)
    deleteUploadBlobsBefore(tx, ctx.now())
  })
}
