import type { Context } from '../../context.ts'
import { inTransaction } from '../../db/open.ts'
import { inRelaxedTransaction } from '../../db/relaxed.ts'
import { CONTENT_CODINGS } from '../../domain/content-encoding.ts'
import { AppError } from '../../domain/errors.ts'
import { BackgroundQueue } from '../../platform/background-queue.ts'
import { type BlobStage, type StagedBlob, type StoredBlob, withContents } from '../../platform/blob-store.ts'
import type { ByteStream } from '../../platform/byte-stream.ts'
import { nextTurn } from '../../platform/next-turn.ts'
import { onePer } from '../../platform/one-per.ts'
import { findBlob, insertBlobs, listStored, openStage } from './blob-queries.ts'
import { commitStaged } from './commit-staged.ts'
import { bumpRevisions } from './queries.ts'
import { isSentCompressed } from './traits.ts'
import { whenNoUpload } from './upload/activity.ts'
import { type AddedVariant, addVariantOfStream, addVariants } from './variants/compress.ts'
import {
  addUnreferenced,
  deleteWaiting,
  findProjectOf,
  insertVariants,
  listPendingAfter,
  listUnmade,
  listUsers,
  listWaiting,
  markMade,
  offerVariants,
} from './variants/queries.ts'

const PAGE = 500
/** Counted in what was published, not in what becomes of it: see `Batch`. */
const BATCH_CONTENTS = 200
const BATCH_BYTES = 8 * 1024 * 1024

/** One per context: compresses one content at a time. */
const workerOf = onePer((ctx: Context): BackgroundQueue => {
  const worker: BackgroundQueue = new BackgroundQueue(async (deploymentId) => {
    try {
      await compressDeployment(ctx, worker, deploymentId)
    } catch (error) {
      ctx.log.error('a deployment could not be compressed', { deploymentId, error })
    }
  })
  return worker
})

/** Queues the deployment's contents for compression in the background. Returns at once. */
export const scheduleVariants = (ctx: Context, deploymentId: string): void => workerOf(ctx).add(deploymentId)

/** Queues what an earlier process did not finish, and what failed. */
export const resumeVariants = (ctx: Context): Promise<void> =>
  workerOf(ctx).addAll((after) => listWaiting(ctx.db, after, PAGE))

/** Resolves when nothing is left to compress. */
export const waitForVariants = (ctx: Context): Promise<void> => workerOf(ctx).wait()

/** Keeps what is done, and resolves after the current content. `resumeVariants` resumes. */
export const stopVariants = (ctx: Context): Promise<void> => workerOf(ctx).stop()

/**
 * Compresses the contents of the deployment that its project has not compressed before. Whether another project has them
 * makes no difference, neither to the work nor to its order, since nobody may learn that (contract 15.8).
 */
async function compressDeployment(
  ctx: Context,
  worker: BackgroundQueue,
  deploymentId: string,
): Promise<void> {
  const projectId = findProjectOf(ctx.db, deploymentId)
  if (projectId === undefined) return
  const users = new Set<string>()
  let batch = new Batch(ctx, projectId)
  let isDone = true
  try {
    for (let after: string | undefined = ''; after !== undefined && !worker.isStopped; ) {
      const page = listPendingAfter(ctx.db, { projectId, deploymentId }, after, PAGE)
      const wanted: typeof page = []
      for (const file of page)
        if (await withContents(ctx, () => isSentCompressed(ctx, file.path, file))) wanted.push(file)
      for (const sha256 of new Set(wanted.map((file) => file.sha256))) {
        await whenNoUpload(ctx)
        if (worker.isStopped) break
        isDone = (await compressContent(ctx, worker, batch, sha256)) && isDone
        if (!batch.isFull) continue
        for (const id of await batch.commit()) users.add(id)
        batch = new Batch(ctx, projectId)
      }
      after = page.at(-1)?.path
      await nextTurn()
    }
    for (const id of await batch.commit()) users.add(id)
  } finally {
    await batch.drop()
    if (users.size > 0) inTransaction(ctx.db, () => bumpRevisions(ctx.db, [...users]))
  }
  // One that was published to meanwhile is waiting again.
  if (isDone && !worker.isStopped && !worker.isWaiting(deploymentId))
    inRelaxedTransaction(ctx.db, () => deleteWaiting(ctx.db, deploymentId))
}

/**
 * Skips a content that was freed meanwhile. Returns false for one that cannot be read, which is logged and tried again
 * later.
 */
async function compressContent(
  ctx: Context,
  worker: BackgroundQueue,
  batch: Batch,
  sha256: string,
): Promise<boolean> {
  const blob = findBlob(ctx.db, sha256)
  if (blob === null || batch.has(sha256)) return true
  try {
    await batch.add(blob, worker)
    return true
  } catch (error) {
    if (error instanceof AppError && error.kind === 'storage_full') throw error
    if (error instanceof Stopped || findBlob(ctx.db, sha256) === null) return true
    ctx.log.error('a content could not be compressed', { sha256, error })
    return false
  }
}

class Stopped extends Error {}

/**
 * The variants of many contents share a pack, a sync and a transaction. They begin to be sent together, so how many they
 * are depends on the contents alone, not on which forms are stored already.
 */
class Batch {
  readonly #ctx: Context
  readonly #projectId: string
  readonly #made = new Map<string, AddedVariant[]>()
  #stage: BlobStage | undefined
  #bytes = 0

  constructor(ctx: Context, projectId: string) {
    this.#ctx = ctx
    this.#projectId = projectId
  }

  get isFull(): boolean {
    return this.#made.size >= BATCH_CONTENTS || this.#bytes >= BATCH_BYTES
  }

  has(sha256: string): boolean {
    return this.#made.has(sha256)
  }

  async add(blob: StoredBlob, worker: BackgroundQueue): Promise<void> {
    this.#bytes += blob.sizeBytes
    this.#stage ??= openStage(this.#ctx)
    const stage = this.#stage
    const variants =
      blob.pack === null
        ? await this.#addLarge(stage, blob, worker)
        : await addVariants(stage, await withContents(this.#ctx, () => readWhole(this.#ctx, blob)))
    this.#made.set(blob.sha256, variants)
  }

  async #addLarge(stage: BlobStage, blob: StoredBlob, worker: BackgroundQueue): Promise<AddedVariant[]> {
    const variants: AddedVariant[] = []
    for (const encoding of CONTENT_CODINGS) {
      const bytes = readChecked(this.#ctx, blob, worker)
      const added = await addVariantOfStream(stage, encoding, bytes, blob.sizeBytes)
      if (added !== undefined) variants.push({ encoding, ...added })
    }
    return variants
  }

  /** Returns the deployments that have new forms to serve. */
  async commit(): Promise<string[]> {
    const stage = this.#stage
    if (stage === undefined) return []
    const stored = await stage.seal()
    const users = commitStaged(this.#ctx.db, stage, () => this.#record(stored))
    this.#stage = undefined
    return users
  }

  /** A content that was compressed for another project keeps the forms that it has. */
  #record(stored: readonly StagedBlob[]): string[] {
    const { db } = this.#ctx
    const present = listStored(db, [...this.#made.keys()])
    const unmade = listUnmade(db, present)
    insertBlobs(this.#ctx, stored)
    insertVariants(
      db,
      [...unmade].flatMap((of) => (this.#made.get(of) ?? []).map((variant) => ({ of, ...variant }))),
    )
    markMade(db, [...unmade], this.#ctx.now())
    offerVariants(db, this.#projectId, present)
    // Variants of a content that is gone or has others, or made before a failure, have a row but no reference.
    addUnreferenced(
      db,
      stored.map(({ sha256 }) => sha256),
    )
    return listUsers(db, this.#projectId, present)
  }

  /** Removes what was not committed. */
  async drop(): Promise<void> {
    await this.#stage?.discard()
  }
}

function readWhole(ctx: Context, blob: StoredBlob): Uint8Array {
  const bytes = ctx.blobs.readSync(blob)
  if (Bun.SHA256.hash(bytes, 'hex') !== blob.sha256) throw damaged(blob)
  return bytes
}

async function* readChecked(ctx: Context, blob: StoredBlob, worker: BackgroundQueue): ByteStream {
  const hash = new Bun.CryptoHasher('sha256')
  for await (const chunk of ctx.blobs.stream(blob)) {
    if (worker.isStopped) throw new Stopped()
    hash.update(chunk)
    yield chunk
  }
  if (hash.digest('hex') !== blob.sha256) throw damaged(blob)
}

const damaged = ({ sha256 }: StoredBlob) => new Error(`Stored content ${sha256} is damaged`)
