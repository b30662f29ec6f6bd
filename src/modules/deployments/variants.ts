import type { Context } from '../../context.ts'
import { inTransaction } from '../../db/open.ts'
import { CONTENT_CODINGS } from '../../domain/content-encoding.ts'
import { isCompressible, mimeTypeOf } from '../../domain/content-type.ts'
import { AppError } from '../../domain/errors.ts'
import type { BlobStage, StoredBlob } from '../../platform/blob-store.ts'
import type { ByteStream } from '../../platform/byte-stream.ts'
import { nextTurn } from '../../platform/next-turn.ts'
import { onePer } from '../../platform/one-per.ts'
import {
  findBlob,
  insertBlobs,
  listStored,
  MIN_COMPRESSED_BYTES,
  NEVER_COMPRESSED,
  openStage,
} from './blob-queries.ts'
import { commitStaged } from './commit-staged.ts'
import { bumpVersions } from './queries.ts'
import { whenNoUpload } from './upload/activity.ts'
import { type AddedVariant, addVariantOfStream, addVariants } from './variants/compress.ts'
import {
  addUnreferenced,
  insertVariants,
  listFilesAfter,
  listUsers,
  listWaiting,
  markDone,
  markUnwanted,
  type PendingFile,
} from './variants/queries.ts'

/** Larger files are downloads: compressing them takes long, and clients request them in ranges. */
const MAX_BYTES = 256 * 1024 * 1024
const PAGE = 500
const BATCH_CONTENTS = 200
const BATCH_BYTES = 8 * 1024 * 1024

/** One per context: compresses one content at a time. */
type Worker = { waiting: Set<string>; running: Promise<void> | undefined; isStopped: boolean }
const workerOf = onePer(
  (_: Context): Worker => ({ waiting: new Set(), running: undefined, isStopped: false }),
)

/** Queues the deployment's contents for compression in the background. Returns at once. */
export function scheduleVariants(ctx: Context, deploymentId: string): void {
  const worker = workerOf(ctx)
  if (worker.isStopped) return
  worker.waiting.add(deploymentId)
  start(ctx, worker)
}

/** Queues what an earlier process did not finish, and what failed. */
export async function resumeVariants(ctx: Context): Promise<void> {
  for (let after = ''; ; ) {
    const waiting = listWaiting(ctx.db, after, PAGE)
    for (const { deploymentIds } of waiting) for (const id of deploymentIds) scheduleVariants(ctx, id)
    const last = waiting.at(-1)
    if (last === undefined || workerOf(ctx).isStopped) return
    after = last.sha256
    await nextTurn()
  }
}

/** Resolves when nothing is left to compress. */
export async function waitForVariants(ctx: Context): Promise<void> {
  for (let { running } = workerOf(ctx); running !== undefined; running = workerOf(ctx).running) await running
}

/** Stops accepting work, keeps what is done, and resolves after the current content. `resumeVariants` resumes. */
export async function stopVariants(ctx: Context): Promise<void> {
  workerOf(ctx).isStopped = true
  await waitForVariants(ctx)
}

function start(ctx: Context, worker: Worker): void {
  worker.running ??= work(ctx, worker).finally(() => {
    worker.running = undefined
    if (worker.waiting.size > 0 && !worker.isStopped) start(ctx, worker)
  })
}

async function work(ctx: Context, worker: Worker): Promise<void> {
  await nextTurn()
  for (const deploymentId of worker.waiting) {
    if (worker.isStopped) return
    worker.waiting.delete(deploymentId)
    try {
      await compressDeployment(ctx, worker, deploymentId)
    } catch (error) {
      ctx.log.error('a deployment could not be compressed', { deploymentId, error })
    }
  }
}

async function compressDeployment(ctx: Context, worker: Worker, deploymentId: string): Promise<void> {
  const users = new Set<string>()
  let batch = new Batch(ctx)
  try {
    for (let after: string | undefined = ''; after !== undefined && !worker.isStopped; ) {
      const page = listFilesAfter(ctx.db, deploymentId, after, PAGE)
      const wanted = sortOut(ctx, page)
      for (const sha256 of wanted) {
        await whenNoUpload(ctx)
        if (worker.isStopped) break
        await compressContent(ctx, worker, batch, sha256)
        if (!batch.isFull) continue
        for (const id of await batch.commit()) users.add(id)
        batch = new Batch(ctx)
      }
      after = page.at(-1)?.path
      await nextTurn()
    }
    for (const id of await batch.commit()) users.add(id)
  } finally {
    await batch.drop()
    if (users.size > 0) inTransaction(ctx.db, () => bumpVersions(ctx.db, [...users]))
  }
}

/** The contents of the page that need compression. Marks those that never will, so that they are not rechecked. */
function sortOut(ctx: Context, page: readonly PendingFile[]): Set<string> {
  const wanted = new Set<string>()
  const tooSmallOrLarge: string[] = []
  const unwanted: string[] = []
  for (const { path, sha256, sizeBytes, variantsAt } of page) {
    if (variantsAt !== null && variantsAt !== NEVER_COMPRESSED) continue
    const pays = isCompressible(mimeTypeOf(path))
    if (pays && sizeBytes >= MIN_COMPRESSED_BYTES && sizeBytes <= MAX_BYTES) wanted.add(sha256)
    else if (pays) tooSmallOrLarge.push(sha256)
    else if (variantsAt === null) unwanted.push(sha256)
  }
  if (tooSmallOrLarge.length + unwanted.length > 0)
    inTransaction(ctx.db, () => {
      markDone(ctx.db, tooSmallOrLarge, ctx.now())
      markUnwanted(
        ctx.db,
        unwanted.filter((sha256) => !wanted.has(sha256)),
      )
    })
  return wanted
}

/** Skips a content that was freed meanwhile. One that cannot be read is logged and tried again later. */
async function compressContent(ctx: Context, worker: Worker, batch: Batch, sha256: string): Promise<void> {
  const blob = findBlob(ctx.db, sha256)
  if (blob === null || batch.has(sha256)) return
  try {
    await batch.add(blob, worker)
  } catch (error) {
    if (error instanceof AppError && error.kind === 'storage_full') throw error
    if (error instanceof Stopped || findBlob(ctx.db, sha256) === null) return
    ctx.log.error('a content could not be compressed', { sha256, error })
  }
}

class Stopped extends Error {}

/** The variants of many contents share a pack, a sync and a transaction. */
class Batch {
  readonly #ctx: Context
  readonly #made = new Map<string, AddedVariant[]>()
  #stage: BlobStage | undefined
  #bytes = 0

  constructor(ctx: Context) {
    this.#ctx = ctx
  }

  get isFull(): boolean {
    return this.#made.size >= BATCH_CONTENTS || this.#bytes >= BATCH_BYTES
  }

  has(sha256: string): boolean {
    return this.#made.has(sha256)
  }

  async add(blob: StoredBlob, worker: Worker): Promise<void> {
    this.#stage ??= openStage(this.#ctx)
    const stage = this.#stage
    const variants =
      blob.pack === null
        ? await this.#addLarge(stage, blob, worker)
        : await addVariants(stage, readWhole(this.#ctx, blob))
    for (const { sizeBytes } of variants) this.#bytes += sizeBytes
    this.#made.set(blob.sha256, variants)
  }

  async #addLarge(stage: BlobStage, blob: StoredBlob, worker: Worker): Promise<AddedVariant[]> {
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
    const { db } = this.#ctx
    const users = commitStaged(db, stage, () => {
      const now = this.#ctx.now()
      const present = listStored(db, [...this.#made.keys()])
      insertBlobs(
        this.#ctx,
        stored.map((blob) => ({ ...blob, variantsAt: now })),
      )
      insertVariants(
        db,
        present.flatMap((of) => (this.#made.get(of) ?? []).map((variant) => ({ of, ...variant }))),
      )
      markDone(db, present, now)
      // Variants of a content that is gone, or made before a failure, have a row but no reference.
      addUnreferenced(
        db,
        stored.map(({ sha256 }) => sha256),
      )
      return listUsers(
        db,
        present.filter((sha256) => this.#made.get(sha256)?.length),
      )
    })
    this.#stage = undefined
    return users
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

async function* readChecked(ctx: Context, blob: StoredBlob, worker: Worker): ByteStream {
  const hash = new Bun.CryptoHasher('sha256')
  for await (const chunk of ctx.blobs.file(blob).stream()) {
    if (worker.isStopped) throw new Stopped()
    hash.update(chunk)
    yield chunk
  }
  if (hash.digest('hex') !== blob.sha256) throw damaged(blob)
}

const damaged = ({ sha256 }: StoredBlob) => new Error(`Stored content ${sha256} is damaged`)
