import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Ended } from './npm-home.ts'

/** A runner with an action of a release, copied alone into a folder, and a PATH that has Node and what else is named. */
export type ActionRun = {
  /** The checkout of the workflow. */
  workspace: string
  toolCache: string
  run(
    inputs: Readonly<Record<string, string>>,
    env?: Readonly<Record<string, string | undefined>>,
  ): Promise<RunnerEnded>
  remove(): void
}
export type RunnerEnded = Ended & { outputs: Record<string, string>; summary: string }

export function actionRun(action: string, programs: readonly string[]): ActionRun {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'svc-runner-')))
  const at = (name: string) => join(root, name)
  for (const name of ['work', 'home', 'path', 'temp', 'tools']) mkdirSync(at(name))
  cpSync(action, at('action'), { recursive: true })
  for (const program of ['node', ...programs])
    symlinkSync(Bun.which(program) ?? '', join(at('path'), program))
  return {
    workspace: at('work'),
    toolCache: at('tools'),
    async run(inputs, env = {}) {
      for (const name of ['output', 'summary']) writeFileSync(at(name), '')
      const child = Bun.spawn([join(at('path'), 'node'), join(at('action'), 'index.mjs')], {
        cwd: at('work'),
        env: {
          PATH: at('path'),
          HOME: at('home'),
          RUNNER_TOOL_CACHE: at('tools'),
          RUNNER_TEMP: at('temp'),
          GITHUB_WORKSPACE: at('work'),
          GITHUB_REPOSITORY: 'acme/book',
          GITHUB_OUTPUT: at('output'),
          GITHUB_STEP_SUMMARY: at('summary'),
          ...Object.fromEntries(
            Object.entries(inputs).map(([name, text]) => [`INPUT_${name.toUpperCase()}`, text]),
          ),
          ...env,
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      const [stdout, stderr] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
      ])
      const lines = readFileSync(at('output'), 'utf8').split('\n').slice(0, -1)
      return {
        code: await child.exited,
        stdout,
        stderr,
        outputs: Object.fromEntries(
          lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
        ),
        summary: readFileSync(at('summary'), 'utf8'),
      }
    },
    remove: () => rmSync(root, { recursive: true }),
  }
}
