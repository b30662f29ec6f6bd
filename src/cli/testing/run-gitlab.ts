import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { runShell } from './run-workflow.ts'

type Rule = { if: string; when?: string }
type Job = {
  extends?: string
  image?: unknown
  script: string[]
  variables?: Record<string, string>
  rules: Rule[]
  environment?: { name: string; url?: string; on_stop?: string; action?: string }
  artifacts?: { reports?: { dotenv: string } }
}

/** What a pipeline came to: the jobs that ran, their output, and the environments with their addresses. */
export type Pipeline = { ran: string[]; log: string; environments: Record<string, string>; stops: string[] }

/**
 * Runs the jobs of a `.gitlab-ci.yml` whose rules hold, in their order, as far as svc's own needs. Manual ones wait: name
 * one as `only` to start it.
 */
export async function runGitlab(
  yaml: string,
  { env, workspace, only }: { env: Record<string, string>; workspace: string; only?: string },
): Promise<Pipeline> {
  const { stages: _stages, variables = {}, ...jobs } = parse(yaml)
  const pipeline: Pipeline = { ran: [], log: '', environments: {}, stops: [] }
  for (const [name, job] of Object.entries<Job>(jobs)) {
    if (name.startsWith('.') || (only !== undefined && only !== name)) continue
    const given = { ...variables, ...job.variables, ...env }
    const rule = job.rules.find((one) => holds(one.if, given))
    if (rule === undefined || (rule.when === 'manual' && only === undefined)) continue
    pipeline.ran.push(name)
    for (const line of job.script) pipeline.log += await runShell(line, workspace, given)
    note(pipeline, job, given, workspace)
  }
  return pipeline
}

function note(
  pipeline: Pipeline,
  { environment, artifacts }: Job,
  env: Record<string, string>,
  folder: string,
) {
  if (environment === undefined) return
  const file = join(folder, artifacts?.reports?.dotenv ?? 'none')
  const known = { ...env, ...(existsSync(file) ? dotenvOf(readFileSync(file, 'utf8')) : {}) }
  pipeline.environments[filled(environment.name, known)] = filled(environment.url ?? '', known)
  if (environment.on_stop !== undefined) pipeline.stops.push(environment.on_stop)
}

/** As GitLab reads it: one `NAME=value` a line, nothing else. */
function dotenvOf(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line !== '')
  for (const line of lines)
    if (!/^[A-Z_]+=\S*$/.test(line)) throw new Error(`no line of a dotenv file: ${line}`)
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  )
}

const filled = (text: string, env: Record<string, string>): string =>
  text.replace(/\$(\w+)/g, (_all, name: string) => env[name] ?? '')

/** `$A == "b"` and `$A == $B`. */
function holds(condition: string, env: Record<string, string>): boolean {
  const [left = '', right = ''] = condition
    .split('==')
    .map((side) => filled(side.trim(), env).replaceAll('"', ''))
  return left === right
}
