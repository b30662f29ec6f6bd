import { ForgeRefusal } from './call.mjs'
import { rowsOf } from './pages.mjs'

/**
 * @typedef {import('./call.mjs').ForgeCall} ForgeCall
 * @typedef {{ repository: string, headBranch: string | undefined, headSha: string | undefined,
 *   logUrl: string | undefined }} Head
 * @typedef {{ environment: string, name: string, isPreview: boolean }} Place
 */

/**
 * A GitHub Deployment of the head branch and its status; where there are none (Forgejo, Gitea), a commit status.
 *
 * @param {ForgeCall} call
 * @param {Head} head
 * @param {Place} place
 * @param {{ state: 'success' | 'failure', url: string | undefined }} outcome
 */
export async function writeDeployment(call, head, place, { state, url }) {
  const { repository, headSha, logUrl } = head
  const id = await createDeployment(call, head, place)
  if (id !== undefined)
    await call('POST', statusesOf(repository, id), { state, environment_url: url, log_url: logUrl })
  else if (headSha !== undefined)
    await call('POST', `/repos/${repository}/statuses/${encodeURIComponent(headSha)}`, {
      context: `svc/${place.name}`,
      state,
      target_url: url ?? logUrl,
    })
}

/**
 * Its id; undefined where the forge knows no deployments.
 *
 * @param {ForgeCall} call
 * @param {Head} head
 * @param {Place} place
 */
async function createDeployment(call, { repository, headBranch }, { environment, isPreview }) {
  try {
    const { json } = await call('POST', `/repos/${repository}/deployments`, {
      ref: headBranch,
      environment,
      auto_merge: false,
      required_contexts: [],
      transient_environment: isPreview,
      production_environment: !isPreview,
    })
    return idOf(json)
  } catch (error) {
    if (error instanceof ForgeRefusal && error.status === 404) return undefined
    throw error
  }
}

/**
 * @param {ForgeCall} call
 * @param {string} repository
 * @param {string} environment
 */
export async function endDeployments(call, repository, environment) {
  const path = `/repos/${repository}/deployments?environment=${encodeURIComponent(environment)}&`
  try {
    for await (const deployment of rowsOf(call, path))
      await call('POST', statusesOf(repository, idOf(deployment)), { state: 'inactive' })
  } catch (error) {
    if (!(error instanceof ForgeRefusal) || error.status !== 404) throw error
  }
}

/**
 * @param {string} repository
 * @param {string} id
 */
const statusesOf = (repository, id) => `/repos/${repository}/deployments/${id}/statuses`

/** @param {unknown} deployment */
function idOf(deployment) {
  const { id } = /** @type {Record<string, unknown>} */ (deployment ?? {})
  if (typeof id !== 'number' && typeof id !== 'string')
    throw new ForgeRefusal('a deployment without an id came')
  return encodeURIComponent(String(id))
}
