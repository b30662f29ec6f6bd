import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ActionFailure } from './inputs.mjs'

const CHECKOUT = fileURLToPath(new URL('../../../../', import.meta.url))
/** Bun would run what bunfig.toml of the folder names and take variables from its .env: that is for svc alone to say. */
const BY_ITSELF = [`--config=${fileURLToPath(new URL('bunfig.toml', import.meta.url))}`, '--no-env-file']

/**
 * Pushes the rule sets with `svc rules push`, which compiles them. Answers its report and what it said beside it.
 *
 * @param {ReturnType<typeof import('./inputs.mjs').readInputs>} inputs
 * @param {import('./inputs.mjs').Env} env
 * @param {(text: string) => void} log
 * @returns {Promise<{ report: import('./runner.mjs').Report, notes: string[] }>}
 */
export async function pushRules(inputs, env, log) {
  const { folders, apiUrl, apiKey, project, prune, dryRun, nameSuffix, workspace } = inputs
  const args = ['rules', 'push', ...folders, '--json', `--api-url=${apiUrl}`, `--project=${project}`]
  if (prune) args.push('--prune')
  if (dryRun) args.push('--dry-run')
  if (nameSuffix !== '') args.push(`--name-suffix=${nameSuffix}`)
  const { command, before } = await findSvc(inputs, env, log)
  const { code, stdout, stderr } = await run(command, [...before, ...args], {
    cwd: workspace,
    env: { ...env, SVC_API_KEY: apiKey },
  })
  const report = /** @type {Partial<import('./runner.mjs').Report> & { problems?: Problem[] }} */ (
    parse(stdout)
  )
  const { ruleSets } = report
  if (code === 0 && Array.isArray(ruleSets)) return { report: { dryRun, ruleSets }, notes: lines(stderr) }
  const problems = (report.problems ?? []).map(
    ({ file, line, column, message }) => `${file}:${line}:${column} ${message}`,
  )
  throw new ActionFailure([...problems, ...lines(stderr)].join('\n') || `svc ended with ${code}`)
}

/** @typedef {{ file: string, line: number, column: number, message: string }} Problem */

/**
 * The command and what comes before its arguments.
 *
 * @param {{ svcPath: string }} inputs
 * @param {import('./inputs.mjs').Env} env
 * @param {(text: string) => void} log
 * @returns {Promise<{ command: string, before: string[] }>}
 */
async function findSvc({ svcPath }, env, log) {
  if (svcPath !== '') {
    if (!existsSync(svcPath)) throw new ActionFailure(`The input svc-path names no file: ${svcPath}`)
    return { command: svcPath, before: [] }
  }
  const name = process.platform === 'win32' ? 'svc.exe' : 'svc'
  const onPath = (env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path))
  if (onPath !== undefined) return { command: onPath, before: [] }
  if (!isCheckout())
    throw new ActionFailure('There is no svc here: put it on the PATH, or name it with the input svc-path')
  log('No svc on the PATH: running the one of this checkout')
  const { prepare } = await import(new URL('../../../bootstrap.mjs', import.meta.url).href)
  return { command: prepare(), before: [...BY_ITSELF, join(CHECKOUT, 'src/main.ts')] }
}

function isCheckout() {
  const manifest = join(CHECKOUT, 'package.json')
  return existsSync(manifest) && parse(readFileSync(manifest, 'utf8'))['name'] === 'svc'
}

/**
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd: string, env: import('./inputs.mjs').Env }} options
 * @returns {Promise<{ code: number | null, stdout: string, stderr: string }>}
 */
function run(command, args, options) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
    const output = { stdout: '', stderr: '' }
    for (const name of /** @type {const} */ (['stdout', 'stderr'])) {
      child[name].setEncoding('utf8')
      child[name].on('data', (/** @type {string} */ text) => {
        output[name] += text
      })
    }
    child.on('error', (error) =>
      reject(new ActionFailure(`${command} could not be started: ${error.message}`)),
    )
    child.on('close', (code) => resolve({ code, ...output }))
  })
}

/**
 * Nothing, where it is no JSON object.
 *
 * @param {string} text
 * @returns {Record<string, unknown>}
 */
function parse(text) {
  try {
    return JSON.parse(text) ?? {}
  } catch {
    return {}
  }
}

/** @param {string} text */
const lines = (text) => text.split('\n').filter((line) => line.trim() !== '')
