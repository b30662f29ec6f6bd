import { callApi } from './api.mjs'
import { ActionFailure, ApiFailure } from './failure.mjs'
import { LostUpload, retrying } from './retry.mjs'
import { tarChunks } from './tar.mjs'

const MANIFEST_PATH = '/api/deployments/manifest'
const ANSWER_TIMEOUT_MS = 120_000
/** Longer than this without a byte taken, or without the answer after the last one, counts as cut off. */
const STALL_MS = 120_000

/**
 * Publishes by the delta upload: the manifest, then the contents that the project does not hold yet. After a
 * passing fault it asks again, so only the rest goes. Answers what the server answered.
 *
 * @param {{ apiUrl: string, apiKey: string, target: Record<string, string>, log: (text: string) => void,
 *   files: { path: string, absolutePath: string, size: number, sha256: string, modifiedMs: number }[] }} upload
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
    const missing = missingFiles(slot, byHash)
    if (missing.length < fewestMissing) restart()
    fewestMissing = Math.min(fewestMissing, missing.length)
    log(
      `${files.length} files; sending ${missing.length}, ${missing.reduce((sum, { size }) => sum + size, 0)} bytes`,
    )
    const answer = await sendContents(server, slot.uploadId, missing)
    if (typeof answer.deployment?.id !== 'string') throw strangeAnswer()
    return answer
  })
}

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
    throw isLostUpload(error) ? new LostUpload(error.message) : error
  } finally {
    clearTimeout(timer)
  }
}

function isLostUpload(error) {
  return error instanceof ApiFailure && (error.status === 404 || error.code === 'UPLOAD_INCOMPLETE')
}

function missingFiles({ uploadId, missing }, byHash) {
  const files = Array.isArray(missing)
    ? [...new Set(missing)].map((sha256) => byHash.get(sha256))
    : [undefined]
  if (typeof uploadId !== 'string' || files.includes(undefined)) throw strangeAnswer()
  return files
}

function strangeAnswer() {
  return new ActionFailure('The server answered what no svc answers; is api-url the address of the API?')
}
