import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { ActionFailure } from './failure.mjs'

/** @typedef {Record<string, string | undefined>} Env */

/**
 * The inputs, and what they lack from the runner's environment. The key is masked before anything else is said.
 *
 * @param {Env} env
 * @param {{ mask: (text: string) => void }} runner
 */
export function readInputs(env, runner) {
  const apiKey = required(env, 'api-key')
  runner.mask(apiKey)
  const apiUrl = parseApiUrl(required(env, 'api-url'))
  const patterns = required(env, 'files')
    .split('\n')
    .map((line) => line.trim())
  const folder = resolve(env['GITHUB_WORKSPACE'] || '.', input(env, 'path') || '.')
  return { apiUrl, apiKey, patterns: patterns.filter((line) => line !== ''), folder, target: readTarget(env) }
}

/**
 * What is published, and as what. Without what nobody says.
 *
 * @typedef {{ owner: string, repo: string, commitSha: string, alias?: string, branch?: string, description?: string,
 *   workflowName?: string, workflowRunId?: string, unwrap?: boolean }} Target
 */

/**
 * @param {Env} env
 * @returns {Target}
 */
function readTarget(env) {
  const [owner, repo] = (env['GITHUB_REPOSITORY'] ?? '').split('/')
  const event = readEvent(env)
  const isPullRequest = env['GITHUB_EVENT_NAME']?.startsWith('pull_request') === true
  const head = isPullRequest ? event.pull_request?.head?.sha : undefined
  const branch = env['GITHUB_REF_TYPE'] === 'tag' ? undefined : env['GITHUB_REF_NAME']
  const subject = isPullRequest ? event.pull_request?.title : event.head_commit?.message?.split('\n')[0]
  const target = {
    owner: input(env, 'owner') || owner,
    repo: input(env, 'repo') || repo,
    commitSha: input(env, 'commit-sha') || head || env['GITHUB_SHA'],
    alias: input(env, 'alias'),
    branch: input(env, 'branch') || env['GITHUB_HEAD_REF'] || branch,
    description: input(env, 'description') || subject,
    workflowName: env['GITHUB_WORKFLOW'],
    workflowRunId: env['GITHUB_RUN_ID'],
    unwrap: isTrue(env, 'unwrap'),
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
 * What triggered the workflow; an empty object where the runner gives none.
 *
 * @param {Env} env
 * @returns {{ pull_request?: { title?: string, head?: { sha?: string } }, head_commit?: { message?: string } }}
 */
function readEvent(env) {
  try {
    return JSON.parse(readFileSync(env['GITHUB_EVENT_PATH'] ?? '', 'utf8')) ?? {}
  } catch {
    return {}
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
 */
function isTrue(env, name) {
  const value = input(env, name).toLowerCase()
  if (!['', 'true', 'false'].includes(value))
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
