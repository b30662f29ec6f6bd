import { setTimeout as delay } from 'node:timers/promises'
import { callApi } from './api.mjs'
import { ActionFailure, ApiFailure, messageOf } from './failure.mjs'
import { readRelease } from './release.mjs'
import { expectedReport, waitForReport } from './report.mjs'
import { isPassing, LostUpload, retrying } from './retry.mjs'
import { tarChunks } from './tar.mjs'

const MANIFEST_PATH = '/api/deployments/manifest'
const ANSWER_TIMEOUT_MS = 120_000
/** Longer than this without a byte taken, or without the answer after the last one, counts as cut off. */
const STALL_MS = 120_000

/**
 * What is used of the server's answer; undefined where it does not say it.
 *
 * @typedef {{ id: string, fileCount: number | undefined, totalSize: number | undefined, isPublished: boolean,
 *   version: number | undefined, expiresAt: string | undefined,
 *   urls: { sha: string | undefined, alias: string | undefined, preview: string | undefined },
 *   notes: string[], release: import('./release.mjs').Release, raw: Json }} Published
 * @typedef {import('./manifest.mjs').HashedFile} HashedFile
 * @typedef {import('./api.mjs').Json} Json
 */

/**
 * Publishes by the delta upload: the manifest, then the contents that the project does not hold yet. After a
 * passing fault it asks again, so only the rest goes.
 *
 * @param {{ apiUrl: string, apiKey: string, target: import('./inputs.mjs').Target & { leftOut?: string[] }, log: (text: string) => void,
 *   files: HashedFile[] }} upload
 * @returns {Promise<Published>}
 */
export async function publish({ apiUrl, apiKey, target, files, log }) {
  const server = { apiUrl, apiKey }
  const byHash = new Map(files.map((file) => [file.sha256, file]))
  const manifest = { ...target, files: files.map(({ path, size, sha256 }) => ({ path, size, sha256 })) }
  let fewestMissing = Number.POSITIVE_INFINITY
  return retrying({ log }, async (restart) => {
    const slot = await callApi(server, MANIFEST_PATH, {
      method: 'POST',
      contentType: 'application/json',
      body: JSON.stringify(manifest),
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    })
    const { uploadId, missing } = readSlot(slot, byHash)
    if (missing.length < fewestMissing) restart()
    fewestMissing = Math.min(fewestMissing, missing.length)
    log(
      `${files.length} ${files.length === 1 ? 'file' : 'files'}; sending ${missing.length}, ${missing.reduce((sum, { size }) => sum + size, 0)} bytes`,
    )
    return readPublished(await sendContents(server, uploadId, missing))
  })
}

/**
 * @param {import('./api.mjs').Server} server
 * @param {string} uploadId
 * @param {HashedFile[]} missing
 */
async function sendContents(server, uploadId, missing) {
  const controller = new AbortController()
  const bite = () => controller.abort(new Error(`nothing moved for ${STALL_MS / 1_000} s`))
  let timer = setTimeout(bite, STALL_MS)
  const touch = () => {
    clearTimeout(timer)
    timer = setTimeout(bite, STALL_MS)
  }
  try {
    return await callApi(server, `${MANIFEST_PATH}/${encodeURIComponent(uploadId)}`, {
      method: 'PUT',
      contentType: 'application/x-tar',
      body: missing.length === 0 ? '' : tarChunks(missing, touch),
      signal: controller.signal,
    })
  } catch (error) {
    throw isLostUpload(error) ? new LostUpload(messageOf(error)) : error
  } finally {
    clearTimeout(timer)
  }
}

/**
 * The whole deploy report, as far as it is made within 30 s; undefined of a server that makes none.
 *
 * @param {import('./api.mjs').Server} server
 * @param {Published} published
 */
export async function readReport(server, { id, raw }) {
  if (expectedReport(raw) === undefined) return undefined
  /** @param {number} timeoutMs */
  const ask = (timeoutMs) =>
    callApi(server, `/api/deployments/${encodeURIComponent(id)}/report`, {
      method: 'GET',
      contentType: 'application/json',
      body: '',
      signal: AbortSignal.timeout(timeoutMs),
    })
  return waitForReport({ ask, isPassing, sleep: delay, nowMs: () => performance.now() })
}

/** @param {unknown} error */
function isLostUpload(error) {
  return error instanceof ApiFailure && (error.status === 404 || error.code === 'UPLOAD_INCOMPLETE')
}

/**
 * Where the upload goes, and the files that it lacks.
 *
 * @param {Json} slot
 * @param {ReadonlyMap<unknown, HashedFile>} byHash
 */
function readSlot({ uploadId, missing }, byHash) {
  if (typeof uploadId !== 'string' || !Array.isArray(missing)) throw strangeAnswer()
  const files = [...new Set(missing)].map((sha256) => byHash.get(sha256) ?? raise(strangeAnswer()))
  return { uploadId, missing: files }
}

/**
 * @param {Error} error
 * @returns {never}
 */
function raise(error) {
  throw error
}

/**
 * @param {Json} raw the server's whole answer
 * @returns {Published}
 */
function readPublished(raw) {
  const { deployment, alias, published, notes, release } = raw
  const { id, fileCount, totalSize, urls, version } = objectOf(deployment)
  const { sha, preview, alias: aliasUrl } = objectOf(urls)
  if (typeof id !== 'string') throw strangeAnswer()
  return {
    raw,
    id,
    fileCount: typeof fileCount === 'number' ? fileCount : undefined,
    totalSize: typeof totalSize === 'number' ? totalSize : undefined,
    isPublished: published === true,
    version: typeof version === 'number' ? version : undefined,
    expiresAt: textOf(objectOf(alias)['expiresAt']),
    urls: {
      sha: textOf(sha),
      preview: textOf(preview),
      alias: textOf(objectOf(alias)['url']) ?? textOf(aliasUrl),
    },
    release: readRelease(release),
    notes: (Array.isArray(notes) ? notes : []).flatMap((note) => textOf(objectOf(note)['message']) ?? []),
  }
}

/**
 * @param {unknown} value
 * @returns {Json} An empty one where it is none.
 */
function objectOf(value) {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

/** @param {unknown} value */
function textOf(value) {
  return typeof value === 'string' ? value : undefined
}

function strangeAnswer() {
  return new ActionFailure('The server answered what no svc answers; is api-url the address of the API?')
}
