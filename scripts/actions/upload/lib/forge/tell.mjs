import { createForgeCall, ForgeRefusal } from './call.mjs'
import { writeComment } from './comment.mjs'
import { endedText, markerOf, publishedText } from './comment-text.mjs'
import { endDeployments, writeDeployment } from './deployment.mjs'

/**
 * Comment, deployment and statuses on GitHub, Forgejo or Gitea. Never throws: what was refused comes back as one line.
 *
 * @type {typeof import('./tell.d.mts').tellGithub}
 */
export async function tellGithub({ job, token, send, wants }, site, outcome) {
  const { apiUrl, repository, pullRequest } = job
  if (apiUrl === undefined || repository === undefined)
    return 'nothing was told: GITHUB_API_URL or GITHUB_REPOSITORY is missing'
  const call = createForgeCall({ apiUrl, headers: { authorization: `Bearer ${token}` }, send })
  const thread = pullRequest && githubThread(repository, pullRequest.number)
  return troublesOf([
    wants.comment && thread !== undefined && (() => comment(call, thread, site, outcome)),
    wants.deployment && (() => deployment(call, { ...job, repository }, site, outcome)),
  ])
}

/**
 * What the forge calls the place; undefined where nothing is named.
 *
 * @type {typeof import('./tell.d.mts').environmentOf}
 */
export const environmentOf = ({ preview, alias }) => (preview === undefined ? alias : `preview/${preview}`)

/**
 * The note of a merge request of GitLab, likewise.
 *
 * @type {typeof import('./tell.d.mts').tellGitlab}
 */
export function tellGitlab({ apiUrl, projectId, iid, token, send }, site, outcome) {
  const call = createForgeCall({ apiUrl, headers: { 'private-token': token }, send })
  const list = `/projects/${encodeURIComponent(projectId)}/merge_requests/${encodeURIComponent(iid)}/notes`
  return troublesOf([
    () => comment(call, { list, edit: (id) => `${list}/${id}`, editMethod: 'PUT' }, site, outcome),
  ])
}

/**
 * @param {string} repository
 * @param {number} number
 * @returns {import('./comment.mjs').Thread}
 */
const githubThread = (repository, number) => ({
  list: `/repos/${repository}/issues/${number}/comments`,
  edit: (id) => `/repos/${repository}/issues/comments/${id}`,
  editMethod: 'PATCH',
})

/**
 * @param {import('./call.mjs').ForgeCall} call
 * @param {import('./comment.mjs').Thread} thread
 * @param {import('./tell.d.mts').Site} site
 * @param {import('./tell.d.mts').Outcome} outcome
 */
async function comment(call, thread, { project, preview }, outcome) {
  if (preview === undefined || outcome === 'failed') return
  const isEnd = outcome === 'ended'
  const text = isEnd ? endedText(preview) : publishedText(preview, outcome)
  await writeComment(call, thread, { marker: markerOf({ project, preview }), text, isEditOnly: isEnd })
}

/**
 * @param {import('./call.mjs').ForgeCall} call
 * @param {import('./deployment.mjs').Head} head
 * @param {import('./tell.d.mts').Site} site
 * @param {import('./tell.d.mts').Outcome} outcome
 */
async function deployment(call, head, { preview, alias }, outcome) {
  const name = preview ?? alias
  const environment = environmentOf({ preview, alias })
  if (name === undefined || environment === undefined) return
  if (outcome === 'ended') return endDeployments(call, head.repository, environment)
  const place = { environment, name, isPreview: preview !== undefined }
  const isFailure = outcome === 'failed'
  await writeDeployment(call, head, place, {
    state: isFailure ? 'failure' : 'success',
    url: isFailure ? undefined : outcome.url,
  })
}

/**
 * @param {(false | undefined | (() => Promise<void>))[]} errands
 * @returns {Promise<string | undefined>}
 */
async function troublesOf(errands) {
  const troubles = new Set()
  for (const errand of errands) {
    try {
      if (errand) await errand()
    } catch (error) {
      troubles.add(error instanceof ForgeRefusal ? error.message : String(error))
    }
  }
  return troubles.size === 0 ? undefined : [...troubles].join('; ')
}
