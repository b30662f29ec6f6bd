import { resolve } from 'node:path'
import { ActionFailure } from './failure.mjs'
import { readGithubJob } from './forge/job.mjs'
import { autoPreviewName, isPreviewName } from './preview-name.mjs'

/**
 * @typedef {Record<string, string | undefined>} Env
 * @typedef {import('./forge/job.mjs').GithubJob} Job
 */

/**
 * The inputs, and what they lack from the runner's environment. The secrets are masked before anything else is said.
 * Undefined for a pull request of a fork without a key, for which nothing can be done.
 *
 * @param {Env} env
 * @param {{ mask: (text: string) => void }} runner
 */
export function readInputs(env, runner) {
  const job = readGithubJob(env)
  const [apiKey, token] = [input(env, 'api-key'), input(env, 'github-token')]
  for (const secret of [apiKey, token]) if (secret !== '') runner.mask(secret)
  if (apiKey === '' && job.isFork) return undefined
  required(env, 'api-key')
  const apiUrl = parseApiUrl(required(env, 'api-url'))
  const isClose = isTrue(env, 'close')
  const patterns = (isClose ? input(env, 'files') : required(env, 'files'))
    .split('\n')
    .map((line) => line.trim())
  return {
    apiUrl,
    apiKey,
    token,
    job,
    isClose,
    wants: { comment: isTrue(env, 'comment', 'true'), deployment: isTrue(env, 'deployment', 'true') },
    patterns: patterns.filter((line) => line !== ''),
    folder: resolve(env['GITHUB_WORKSPACE'] || '.', input(env, 'path') || '.'),
    target: readTarget(env, job),
  }
}

/**
 * What is published, and as what. Without what nobody says.
 *
 * @typedef {{ owner: string, repo: string, commitSha: string, alias?: string, branch?: string, description?: string,
 *   workflowName?: string, workflowRunId?: string, unwrap?: boolean, preview?: string, expiresIn?: string,
 *   pullRequest?: number, pullRequestUrl?: string, force?: boolean }} Target
 */

/**
 * @param {Env} env
 * @param {Job} job
 * @returns {Target}
 */
function readTarget(env, job) {
  const [owner, repo] = (env['GITHUB_REPOSITORY'] ?? '').split('/')
  const branch = env['GITHUB_REF_TYPE'] === 'tag' ? undefined : env['GITHUB_REF_NAME']
  const target = {
    owner: input(env, 'owner') || owner,
    repo: input(env, 'repo') || repo,
    commitSha: input(env, 'commit-sha') || job.headSha,
    ...readPlace(env, job),
    branch: input(env, 'branch') || env['GITHUB_HEAD_REF'] || branch,
    description: input(env, 'description') || job.subject,
    workflowName: env['GITHUB_WORKFLOW'],
    workflowRunId: env['GITHUB_RUN_ID'],
    unwrap: isTrue(env, 'unwrap'),
    force: isTrue(env, 'force'),
  }
  for (const [name, value] of Object.entries({
    owner: target.owner,
    repo: target.repo,
    'commit-sha': target.commitSha,
  }))
    if (!value) throw new ActionFailure(`The input ${name} is missing, and the environment does not give it`)
  const said = Object.entries(target).filter(([, value]) => value)
  return /** @type {Target} */ (Object.fromEntries(said))
}

/**
 * The alias or the preview. With both a pull request takes the preview, everything else the alias.
 *
 * @param {Env} env
 * @param {Job} job
 * @returns {Pick<Target, 'alias' | 'preview' | 'expiresIn' | 'pullRequest' | 'pullRequestUrl'>}
 */
function readPlace(env, job) {
  const { pullRequest } = job
  const [alias, wanted] = [input(env, 'alias'), input(env, 'preview')]
  if (wanted === '' || (alias !== '' && !job.isOfPullRequest)) return { alias }
  const preview =
    wanted === 'auto' ? autoPreviewName({ pullRequest: pullRequest?.number, branch: job.headBranch }) : wanted
  if (preview === undefined)
    throw new ActionFailure(
      'The input preview is auto, and there is neither a pull request nor a branch to name it by',
    )
  if (!isPreviewName(preview))
    throw new ActionFailure(
      `The input preview is no name: ${preview}; letters, digits, _ and -, at most 64, and no SHA`,
    )
  const expiresIn = input(env, 'expires')
  return {
    preview,
    expiresIn,
    ...(pullRequest && { pullRequest: pullRequest.number }),
    ...(pullRequest?.url && { pullRequestUrl: pullRequest.url }),
  }
}

/**
 * @param {Env} env
 * @param {string} name
 */
function required(env, name) {
  const value = input(env, name)
  if (value === '') throw new ActionFailure(`The input ${name} is required`)
  return value
}

/**
 * @param {Env} env
 * @param {string} name
 * @param {string} otherwise
 */
function isTrue(env, name, otherwise = 'false') {
  const value = input(env, name).toLowerCase() || otherwise
  if (!['true', 'false'].includes(value))
    throw new ActionFailure(`The input ${name} is true or false, not ${value}`)
  return value === 'true'
}

/**
 * Runners keep the hyphen in the variable's name; shells, which cannot, may write an underscore.
 *
 * @param {Env} env
 * @param {string} name
 */
function input(env, name) {
  const variable = `INPUT_${name.toUpperCase()}`
  return (env[variable] ?? env[variable.replaceAll('-', '_')] ?? '').trim()
}

/** @param {string} text */
function parseApiUrl(text) {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    throw new ActionFailure(
      `The input api-url is no address: ${text}; it looks like https://admin.example.com`,
    )
  return url.origin + url.pathname.replace(/\/+$/, '').replace(/\/api$/, '')
}
