import { readFileSync } from 'node:fs'
import { objectOf } from '../object-of.mjs'

/**
 * What the job was started for, as GitHub, Forgejo and Gitea say it.
 *
 * @type {typeof import('./job.d.mts').readGithubJob}
 */
export function readGithubJob(env) {
  const event = objectOf(readEvent(env))
  const isOfPullRequest = env['GITHUB_EVENT_NAME']?.startsWith('pull_request') === true
  const said = isOfPullRequest ? objectOf(event['pull_request']) : {}
  const head = objectOf(said['head'])
  const repository = env['GITHUB_REPOSITORY']
  return {
    apiUrl: env['GITHUB_API_URL'] || undefined,
    repository: /^[\w.-]+\/[\w.-]+$/.test(repository ?? '') ? repository : undefined,
    headSha: textOf(head['sha']) ?? textOf(env['GITHUB_SHA']),
    headBranch: textOf(head['ref']) ?? textOf(env['GITHUB_HEAD_REF']) ?? branchOf(event, env),
    logUrl: logUrlOf(env),
    subject: isOfPullRequest ? textOf(said['title']) : firstLine(objectOf(event['head_commit'])['message']),
    isOfPullRequest,
    isFork: 'repo' in head && isOtherRepository(head, said, env),
    pullRequest: isOfPullRequest
      ? pullRequestOf([said['number'], event['number'], numberOfRef(env)], said['html_url'])
      : undefined,
  }
}

/**
 * A web address, as it is where that may stand in a comment and in a file of variables; undefined for anything else.
 *
 * @type {typeof import('./job.d.mts').webAddress}
 */
export function webAddress(text) {
  if (typeof text !== 'string' || !URL.canParse(text)) return undefined
  const { protocol, href } = new URL(text)
  if (protocol !== 'https:' && protocol !== 'http:') return undefined
  return /^[\x21-\x7e]+$/.test(text) && !/[<>"]/.test(text) ? text : href
}

/** @param {import('./job.d.mts').Env} env */
function logUrlOf({ GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: run }) {
  return run ? webAddress(`${server}/${repository}/actions/runs/${run}`) : undefined
}

/**
 * @param {unknown[]} numbers The first that is one counts.
 * @param {unknown} url
 */
function pullRequestOf(numbers, url) {
  const number = numbers.find(isNumber)
  return number === undefined ? undefined : { number, url: webAddress(url) }
}

/** @param {import('./job.d.mts').Env} env */
const numberOfRef = (env) => Number(/^refs\/pull\/(\d{1,9})\//.exec(env['GITHUB_REF'] ?? '')?.[1])

/**
 * @param {unknown} value
 * @returns {value is number}
 */
const isNumber = (value) => Number.isSafeInteger(value) && Number(value) > 0

/**
 * A fork that was deleted has no repository at all.
 *
 * @param {Record<string, unknown>} head
 * @param {Record<string, unknown>} pullRequest
 * @param {import('./job.d.mts').Env} env
 */
function isOtherRepository(head, pullRequest, env) {
  const base = objectOf(objectOf(pullRequest['base'])['repo'])['full_name'] ?? env['GITHUB_REPOSITORY']
  return String(objectOf(head['repo'])['full_name']).toLowerCase() !== String(base).toLowerCase()
}

/**
 * A job that the end of a branch starts runs on the default branch.
 *
 * @param {Record<string, unknown>} event
 * @param {import('./job.d.mts').Env} env
 */
function branchOf(event, env) {
  const isEnd = env['GITHUB_EVENT_NAME'] === 'delete' && event['ref_type'] === 'branch'
  return (isEnd ? textOf(event['ref']) : undefined) ?? textOf(env['GITHUB_REF_NAME'])
}

/**
 * @param {import('./job.d.mts').Env} env
 * @returns {unknown}
 */
function readEvent(env) {
  try {
    return JSON.parse(readFileSync(env['GITHUB_EVENT_PATH'] ?? '', 'utf8'))
  } catch {
    return undefined
  }
}

/** @param {unknown} value */
function textOf(value) {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** @param {unknown} value */
const firstLine = (value) => textOf(textOf(value)?.split('\n')[0])
