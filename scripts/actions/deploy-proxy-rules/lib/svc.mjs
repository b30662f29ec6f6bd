import { findSvc } from './find-svc.mjs'
import { ActionFailure } from './inputs.mjs'
import { lines, run } from './run.mjs'

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
