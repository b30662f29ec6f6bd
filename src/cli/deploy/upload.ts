import { isRecord } from '../../domain/is-record.ts'
import { type ApiClient, ApiFailure } from '../api-client.ts'
import { CommandFailure, type Io } from '../command.ts'
import { isPassing, retrying } from '../retry.ts'
import { strangeAnswer } from '../strange-answer.ts'
import type { HashedFile } from './manifest.ts'
import type { Amount, Progress } from './progress.ts'
import { tarStream } from './tar.ts'

/** Identity and target of a deployment. contract §5.2, the delta upload. */
export type Target = {
  owner: string
  repo: string
  commitSha: string
  /** The commit that a changed working tree stood on, whose contents `commitSha` is of. */
  baseSha?: string
  branch?: string
  alias?: string
  /** An alias with an end, in place of `alias`. contract 16 §2. */
  preview?: string
  expiresIn?: string
  pullRequest?: number
  pullRequestUrl?: string
  description?: string
  /** Only used when the upload creates the project: its site is then public. */
  isPublic?: true
  /** Whatever the checks of the release find, the alias moves. */
  force?: true
  /** What was left out of the folder: the first of it. contract 13 §7. */
  leftOut?: readonly string[]
}

export type Published = {
  /** The server's whole answer. */
  answer: Readonly<Record<string, unknown>>
  /** Whether the named alias points at this deployment now; a locked one does not. */
  isPublished: boolean
  urls: { sha: string | null; preview: string | null; alias: string | null }
  /** What the server says besides; none of an older one. contract 12.9. */
  notes: readonly ServerNote[]
  /** What had to be sent; a content shared by several files counts once. */
  sent: Amount
}

export type ServerNote = { code: string; message: string }

const MANIFEST_PATH = '/api/deployments/manifest'
/** The connection counts as cut off after this long without a byte taken, or without an answer after the last byte. */
const STALL_MS = 120_000

/**
 * Publishes by the delta upload: sends the manifest, then the contents that the project does not hold yet.
 * After a temporary failure it asks again, so that only the rest is sent.
 */
export async function publish(
  client: ApiClient,
  { target, files, progress, io }: { target: Target; files: HashedFile[]; progress: Progress; io: Io },
): Promise<Published> {
  const byHash = new Map(files.map((file) => [file.sha256, file]))
  const manifest = { ...target, files: files.map(({ path, size, sha256 }) => ({ path, size, sha256 })) }
  let fewestMissing = Number.POSITIVE_INFINITY
  let sent: Amount | undefined

  const attempt = async (restart: () => void) => {
    const { uploadId, missing } = parseSlot(await client.json('POST', MANIFEST_PATH, manifest), byHash)
    if (missing.length < fewestMissing) restart()
    fewestMissing = Math.min(fewestMissing, missing.length)
    const amount = { files: missing.length, bytes: missing.reduce((sum, { size }) => sum + size, 0) }
    sent ??= amount
    progress.begin('sending', amount)
    return sendContents(client, uploadId, missing, progress)
  }
  const onWait = (error: Error, waitMs: number) =>
    progress.note(`${error.message}; trying again in ${Math.ceil(waitMs / 1_000)} s`)
  try {
    const answer = await retrying({ sleep: io.sleep, isWorthRetrying, onWait }, attempt)
    return parsePublished(answer, sent ?? { files: 0, bytes: 0 })
  } finally {
    progress.end()
  }
}

async function sendContents(
  client: ApiClient,
  uploadId: string,
  missing: HashedFile[],
  progress: Progress,
): Promise<unknown> {
  const watchdog = createWatchdog(STALL_MS)
  const onRead = (bytes: number, files: number) => {
    watchdog.touch()
    progress.add(bytes, files)
  }
  try {
    return await client.send('PUT', `${MANIFEST_PATH}/${encodeURIComponent(uploadId)}`, {
      contentType: 'application/x-tar',
      body: missing.length === 0 ? null : tarStream(missing, onRead),
      signal: watchdog.signal,
    })
  } catch (error) {
    throw error instanceof ApiFailure && isLostUpload(error) ? new LostUpload(error) : error
  } finally {
    watchdog.stop()
  }
}

/** The server no longer knows the upload, or has less of it than it said: starting over fixes both. */
class LostUpload extends CommandFailure {
  constructor(cause: ApiFailure) {
    super(cause.message, cause.exitCode, { cause })
  }
}

function isLostUpload({ status, code }: ApiFailure): boolean {
  return status === 404 || code === 'UPLOAD_INCOMPLETE'
}

function isWorthRetrying(error: unknown): boolean {
  return error instanceof LostUpload || isPassing(error)
}

type Watchdog = { signal: AbortSignal; touch(): void; stop(): void }

function createWatchdog(stallMs: number): Watchdog {
  const controller = new AbortController()
  let movedMs = performance.now()
  // A timer per file would cost more than checking when it fires.
  const look = () => {
    const leftMs = movedMs + stallMs - performance.now()
    if (leftMs > 0) timer = setTimeout(look, leftMs)
    else controller.abort(new Error(`nothing moved for ${stallMs / 1_000} s`))
  }
  let timer = setTimeout(look, stallMs)
  return {
    signal: controller.signal,
    touch() {
      movedMs = performance.now()
    },
    stop: () => clearTimeout(timer),
  }
}

function parseSlot(
  answer: unknown,
  byHash: ReadonlyMap<string, HashedFile>,
): { uploadId: string; missing: HashedFile[] } {
  const { uploadId, missing } = isRecord(answer) ? answer : {}
  if (typeof uploadId !== 'string' || !Array.isArray(missing)) throw strangeAnswer()
  const files = new Set<HashedFile>()
  for (const sha256 of missing) {
    const file = byHash.get(sha256)
    if (file === undefined) throw strangeAnswer()
    files.add(file)
  }
  return { uploadId, missing: [...files] }
}

function parsePublished(answer: unknown, sent: Amount): Published {
  if (!isRecord(answer) || !isRecord(answer['deployment'])) throw strangeAnswer()
  const { deployment, alias, published } = answer
  const urls = isRecord(deployment['urls']) ? deployment['urls'] : {}
  return {
    answer,
    isPublished: published === true,
    urls: {
      sha: textOrNull(urls['sha']),
      preview: textOrNull(urls['preview']),
      alias: textOrNull(isRecord(alias) ? alias['url'] : urls['alias']),
    },
    notes: Array.isArray(answer['notes']) ? answer['notes'].filter(isNote) : [],
    sent,
  }
}

const isNote = (note: unknown): note is ServerNote =>
  isRecord(note) && typeof note['code'] === 'string' && typeof note['message'] === 'string'

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
