import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'

const NODE = Bun.which('node') ?? process.execPath
const UPLOAD = join(import.meta.dir, '../../..', 'scripts', 'actions', 'upload')

export type ActionRun = { code: number; log: string; outputs: Record<string, string>; summary: string }

/** `token`: what `github.token` stands for. */
type Job = { env: Record<string, string>; event: object; workspace: string; token: string }

/**
 * Runs the upload action as a runner does: by its action.yml, the inputs and their defaults in `INPUT_*`, the event and the
 * files for outputs and summary in `GITHUB_*`, and nothing but Node. Throws for an input that the action does not declare.
 */
export async function runUploadAction(given: Record<string, string>, job: Job): Promise<ActionRun> {
  const action = parse(readFileSync(join(UPLOAD, 'action.yml'), 'utf8'))
  const files = realpathSync(mkdtempSync(join(tmpdir(), 'svc-runner-')))
  const at = (name: string) => join(files, name)
  for (const name of ['output', 'summary']) writeFileSync(at(name), '')
  writeFileSync(at('event.json'), JSON.stringify(job.event))
  const { code, log } = await spawned([NODE, join(UPLOAD, action.runs.main)], files, {
    PATH: '/nonexistent',
    GITHUB_ACTIONS: 'true',
    GITHUB_WORKSPACE: job.workspace,
    GITHUB_OUTPUT: at('output'),
    GITHUB_STEP_SUMMARY: at('summary'),
    GITHUB_EVENT_PATH: at('event.json'),
    ...job.env,
    ...inputsOf(action.inputs, given, job.token),
  })
  const run = {
    code,
    log,
    outputs: outputsOf(readFileSync(at('output'), 'utf8')),
    summary: readFileSync(at('summary'), 'utf8'),
  }
  rmSync(files, { recursive: true })
  return run
}

/** A command that ran to its end, with all that it said. */
export async function spawned(
  command: string[],
  cwd: string,
  env: Record<string, string>,
): Promise<{ code: number; log: string }> {
  const child = Bun.spawn(command, { cwd, env, stdout: 'pipe', stderr: 'pipe' })
  const said = [new Response(child.stdout).text(), new Response(child.stderr).text()]
  return { code: await child.exited, log: (await Promise.all(said)).join('') }
}

function inputsOf(
  declared: Record<string, { default?: string }>,
  given: Record<string, string>,
  token: string,
): Record<string, string> {
  const unknown = Object.keys(given).filter((name) => !(name in declared))
  if (unknown.length > 0) throw new Error(`action.yml declares no input ${unknown.join(', ')}`)
  return Object.fromEntries(
    Object.entries(declared).map(([name, { default: otherwise = '' }]) => [
      `INPUT_${name.toUpperCase()}`,
      given[name] ?? otherwise.replace(`$\{{ github.token }}`, token),
    ]),
  )
}

function outputsOf(text: string): Record<string, string> {
  const lines = text.split('\n').slice(0, -1)
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  )
}
