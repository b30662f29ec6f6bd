import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A command that runs. `ended` is its exit code, once also all that it and its children said has come. */
export type Started = { output(): string; kill(signal: NodeJS.Signals): void; ended: Promise<number> }

export type Ended = { code: number | null; stdout: string; stderr: string }

/** A laptop that never saw svc: npm's home and an empty folder, with one registry and no other way out. */
export type NpmHome = {
  folder: string
  env: Record<string, string>
  /** Runs a command in the folder to its end. */
  run(argv: readonly string[], env?: Record<string, string>): Promise<Ended>
  start(argv: readonly string[], env?: Record<string, string>): Started
  remove(): void
}

/** Nobody listens there. */
const NOWHERE = 'http://127.0.0.1:9'

export function npmHome(registry: string): NpmHome {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'svc-npm-')))
  const folder = join(root, 'work')
  mkdirSync(folder)
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: join(root, 'home'),
    npm_config_registry: registry,
    npm_config_cache: join(root, 'cache'),
    npm_config_update_notifier: 'false',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_yes: 'true',
    HTTPS_PROXY: NOWHERE,
    HTTP_PROXY: NOWHERE,
    NO_PROXY: '127.0.0.1',
  }
  const run = async (argv: readonly string[], more: Record<string, string> = {}): Promise<Ended> => {
    const child = Bun.spawn([...argv], {
      cwd: folder,
      env: { ...env, ...more },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [stdout, stderr] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ])
    return { code: await child.exited, stdout, stderr }
  }
  const start = (argv: readonly string[], more: Record<string, string> = {}): Started =>
    startIn(folder, argv, { ...env, ...more })
  return { folder, env, run, start, remove: () => rmSync(root, { recursive: true, force: true }) }
}

function startIn(folder: string, argv: readonly string[], env: Record<string, string>): Started {
  const child = Bun.spawn([...argv], {
    cwd: folder,
    env,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  let output = ''
  const reading = (async () => {
    for await (const piece of child.stdout) output += new TextDecoder().decode(piece)
  })()
  return {
    output: () => output,
    kill: (signal) => child.kill(signal),
    ended: reading.then(() => child.exited),
  }
}
