import { isFilled, releasedVersion } from './release.mjs'

/** Expected, so its message is all that the log needs. */
export class ActionFailure extends Error {}

/** @typedef {Record<string, string | undefined>} Env */

/**
 * The inputs, the key masked before anything else is said.
 *
 * @param {Env} env
 * @param {(text: string) => void} mask
 */
export function readInputs(env, mask) {
  const apiKey = required(env, 'api-key')
  mask(apiKey)
  const folders = required(env, 'path')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const dashed = folders.find((folder) => folder.startsWith('-'))
  if (dashed !== undefined) throw new ActionFailure(`The input path has no flags: ${dashed}`)
  const project = input(env, 'project') || env['GITHUB_REPOSITORY'] || ''
  if (!/^[^/\s]+\/[^/\s]+$/.test(project))
    throw new ActionFailure(`The input project is no owner/repo: ${project}`)
  return {
    apiKey,
    folders,
    project,
    apiUrl: required(env, 'api-url'),
    prune: flag(env, 'prune'),
    dryRun: flag(env, 'dry-run'),
    nameSuffix: input(env, 'name-suffix'),
    svcPath: input(env, 'svc-path'),
    svcVersion: versionInput(env),
    workspace: env['GITHUB_WORKSPACE'] || '.',
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
function flag(env, name) {
  const value = input(env, name).toLowerCase() || 'false'
  if (value !== 'true' && value !== 'false')
    throw new ActionFailure(`The input ${name} is true or false, not ${value}`)
  return value === 'true'
}

/** Semantic Versioning 2.0: no range, and no name such as latest. */
const VERSION = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/

/**
 * Empty in a copy of the source, whose action.yml has none.
 *
 * @param {Env} env
 */
function versionInput(env) {
  const given = input(env, 'svc-version')
  if (!isFilled(given)) return releasedVersion ?? ''
  if (!VERSION.test(given))
    throw new ActionFailure(`The input svc-version is an exact version such as 1.2.3, not ${given}`)
  return given
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
