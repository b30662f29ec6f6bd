import { callApi } from './api.mjs'
import { ActionFailure, ApiFailure } from './failure.mjs'
import { retrying } from './retry.mjs'

const ANSWER_TIMEOUT_MS = 120_000

/**
 * Ends the preview. False where the server knows none of this name, or not even the project.
 *
 * @param {{ apiUrl: string, apiKey: string, target: import('./inputs.mjs').Target, preview: string,
 *   log: (text: string) => void }} end
 * @returns {Promise<boolean>}
 */
export async function endPreview({ apiUrl, apiKey, target, preview, log }) {
  /**
   * @param {string} method
   * @param {string[]} parts
   */
  const call = (method, ...parts) =>
    retrying({ log }, () =>
      callApi({ apiUrl, apiKey }, `/api/projects/${parts.map(encodeURIComponent).join('/')}`, {
        method,
        contentType: 'application/json',
        body: '',
        signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
      }),
    )
  try {
    const { id } = await call('GET', target.owner, target.repo)
    if (typeof id !== 'string') throw new ActionFailure('The server answered with a project that has no id')
    await call('DELETE', id, 'previews', preview)
    return true
  } catch (error) {
    if (error instanceof ApiFailure && error.status === 404 && error.code !== undefined) return false
    throw error
  }
}
