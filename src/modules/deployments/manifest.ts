import type { Caller, Context } from '../../context.ts'
import { actorRef } from '../../db/audit.ts'
import { inTransaction } from '../../db/open.ts'
import { inRelaxedTransaction } from '../../db/relaxed.ts'
import { DAY_MS } from '../../domain/durations.ts'
import { AppError } from '../../domain/errors.ts'
import { isoTime } from '../../domain/iso-time.ts'
import { readBody } from '../../http/held-body.ts'
import { MAX_SYNC_BYTES } from '../../http/json-body.ts'
import { parseStorableJson } from '../../http/parse-json.ts'
import { tooLarge } from '../../platform/byte-stream.ts'
import { GO_ON, inSteps, type Stop } from '../../platform/in-steps.ts'
import { previewOf } from '../aliases/previews/renew.ts'
import { refuseBeyondQuota } from '../quotas/check.ts'
import type { Usage } from '../quotas/model.ts'
import { refuseLowDisk } from '../storage/floor.ts'
import { Delivery, UPLOAD_MS } from './manifest/delivery.ts'
import {
  contentsOf,
  type Manifest,
  manifestFields,
  parseManifest,
  refuseWrongSizes,
} from './manifest/parse.ts'
import { type Delivered, PublishedMeanwhile, publishedBefore } from './manifest/published.ts'
import {
  deleteUploadBlobsBefore,
  deleteUploadsBefore,
  findHoldings,
  findUpload,
  insertUpload,
  type UploadRow,
} from './manifest/queries.ts'
import { keepRecentUpload } from './manifest/recent.ts'
import type { UploadSlot } from './model.ts'
import { authorizeUpload, authorizeUploadTo, requireUploadProject, uploaderOf } from './publish/access.ts'
import { failureOf } from './publish/failure.ts'
import { type Plan, planPublish } from './publish/plan.ts'
import { findNewestVersion } from './publish/queries.ts'
import { replacedBelow } from './publish/record.ts'
import { type Failure, tellingOfFailure } from './publish/tell.ts'
import { asUpload } from './upload/activity.ts'
import { ARCHIVE_TYPES } from './upload/archive.ts'
import { mediaTypeOf, unsupportedType } from './upload/body.ts'
import { targetOf } from './upload/fields.ts'

/** How much longer an expired upload is remembered, so that its sender can be told to start again. */
const REMEMBERED_MS = DAY_MS

/** First request of a delta upload: takes the manifest and returns which contents this project does not have yet. */
export async function beginUpload(ctx: Context, request: Request): Promise<UploadSlot> {
  const caller = uploaderOf(ctx, request)
  refuseLowDisk(ctx)
  const body = await readManifest(ctx, request)
  const fields = manifestFields(body)
  const target = targetOf(fields)
  if (target !== undefined) authorizeUpload(ctx, caller, target)
  return tellingOfFailure(
    ctx,
    caller,
    () => failureOf(ctx, caller, fields),
    async () => openSlot(ctx, caller, parseManifest(ctx, body, fields)),
  )
}

function openSlot(ctx: Context, caller: Caller, manifest: Manifest): UploadSlot {
  const contents = contentsOf(manifest)
  const begun = inTransaction(ctx.db, (tx) => {
    const project = requireUploadProject(ctx, tx, caller, manifest.publication)
    const plan = planOf(ctx, project.id, manifest)
    const { alias, preview } = manifest.publication
    if (alias !== null) previewOf(tx, project.id, alias, preview)
    const holdings = findHoldings(ctx.db, project.id, contents.keys(), ctx.now())
    const { held } = holdings
    refuseWrongSizes(contents, held)
    const missing = [...contents.keys()].filter((sha256) => !held.has(sha256))
    const bytes = missing.reduce((sum, sha256) => sum + (contents.get(sha256) ?? 0), 0)
    if (bytes > ctx.config.maxUploadBytes) throw tooLarge('The missing content', ctx.config.maxUploadBytes)
    refuseBeyondQuota(ctx, project.id, { bytes, ...rowsNeeded(plan, manifest) })
    const upload: UploadRow = {
      id: ctx.newId(),
      projectId: project.id,
      manifest: JSON.stringify(manifest),
      createdBy: actorRef(caller.actor),
      expiresAt: ctx.now() + UPLOAD_MS,
      publishedAt: null,
      deploymentId: null,
      release: null,
    }
    insertUpload(tx, upload)
    return { upload, holdings, missing }
  })
  const { upload, holdings, missing } = begun
  keepRecentUpload(ctx, { uploadId: upload.id, manifest, contents, holdings, heldAt: ctx.db.writes })
  return { uploadId: upload.id, missing, expiresAt: isoTime(upload.expiresAt) }
}

/**
 * Second request: takes the missing contents and publishes, once. If the body is cut off, lacks files or has wrong
 * bytes, the contents that arrived complete are kept for the next try. Past a limit nothing is kept.
 */
export async function receiveContents(ctx: Context, request: Request, uploadId: string): Promise<Delivered> {
  const caller = uploaderOf(ctx, request)
  const upload = findUpload(ctx.db.orm, uploadId)
  authorizeUploadTo(ctx, caller, upload?.projectId ?? null)
  if (upload === undefined || upload.expiresAt <= ctx.now())
    throw new AppError('not_found', 'There is no such upload, or it has expired: send the manifest again')
  const type = mediaTypeOf(request)
  if (request.body !== null && ARCHIVE_TYPES.get(type) !== 'tar') throw unsupportedType(type, TAR_TYPE)
  if (upload.publishedAt !== null) return publishedBefore(ctx, caller, upload)
  return tellingOfFailure(
    ctx,
    caller,
    () => failureOfUpload(ctx, caller, upload),
    async () => {
      refuseLowDisk(ctx)
      return asUpload(ctx, () => deliver(ctx, caller, request, upload))
    },
  )
}

function failureOfUpload(ctx: Context, caller: Caller, { projectId, manifest }: UploadRow): Failure {
  const { publication }: Manifest = JSON.parse(manifest)
  const { commitSha, alias } = publication
  return { project: authorizeUploadTo(ctx, caller, projectId), commitSha, alias }
}

async function deliver(
  ctx: Context,
  caller: Caller,
  request: Request,
  upload: UploadRow,
): Promise<Delivered> {
  const delivery = new Delivery(ctx, caller, upload)
  try {
    await delivery.receive(request)
    return await delivery.publish()
  } catch (error) {
    await delivery.discard()
    if (error instanceof PublishedMeanwhile) return publishedBefore(ctx, caller, upload)
    throw error
  }
}

const TAR_TYPE = 'application/x-tar'

/** Refuses an upload that could not be published in the end, before its contents are sent. */
function planOf(ctx: Context, projectId: string, { files, publication }: Manifest): Plan {
  const newest = findNewestVersion(ctx.db.orm, projectId, publication.commitSha)
  return planPublish(ctx, newest, { files, below: replacedBelow(publication) })
}

/** How many deployments and files the publish adds. */
function rowsNeeded(plan: Plan, { files }: Manifest): Omit<Usage, 'bytes'> {
  if (plan.kind === 'new') return { deployments: 1, files: files.length + plan.kept.length }
  return { deployments: 0, files: files.filter(({ path }) => !plan.known.has(path)).length }
}

/** The body of the first request: JSON of up to 16 MiB, enough for 50,000 files. */
async function readManifest(ctx: Context, request: Request): Promise<unknown> {
  const type = mediaTypeOf(request)
  if (!/^application\/([\w.-]+\+)?json$/.test(type)) throw unsupportedType(type, 'application/json')
  return parseStorableJson(await readBody(ctx, request, MAX_SYNC_BYTES))
}

/** A manifest has up to 16 MiB, which its deletion reads. */
const UPLOADS_AT_ONCE = 10
const CONTENTS_AT_ONCE = 500

/** Upkeep: removes expired uploads and frees the contents that nothing else refers to. */
export async function removeExpiredUploads(ctx: Context, stop: Stop = GO_ON): Promise<void> {
  const now = ctx.now()
  const removeUploads = () => deleteUploadsBefore(ctx.db, now - REMEMBERED_MS, UPLOADS_AT_ONCE)
  const removeContents = () => deleteUploadBlobsBefore(ctx.db, now, CONTENTS_AT_ONCE)
  await inSteps(stop, () => inRelaxedTransaction(ctx.db, removeUploads) === UPLOADS_AT_ONCE)
  await inSteps(stop, () => inRelaxedTransaction(ctx.db, removeContents) === CONTENTS_AT_ONCE)
}
