import { existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Cores as `taskset -c` writes them: the server has one to itself, the load and this program the other. */
export const SERVER_CORE = '0'
export const LOAD_CORE = '1'
export const ALL_CORES = '0,1'

/** `SVC_EXECUTABLE` measures another build. */
export const svcExecutable = process.env['SVC_EXECUTABLE'] ?? join(import.meta.dir, '../../../dist/svc')

const TMPFS = 0x01021994

/** What a bench works in: a temporary folder and the processes it started. `close` ends and removes them all. */
export type Lab = {
  folder(name: string): string
  spawn(argv: readonly string[], options?: SpawnOptions): Process
  close(): Promise<void>
}

export type Process = {
  pid: number
  exited: Promise<number>
  stop(): Promise<void>
  output(): Promise<string>
}

type SpawnOptions = {
  cores?: string
  env?: Readonly<Record<string, string>>
  cwd?: string
}

/** Folders lie below `TMPDIR`. In memory (tmpfs) nothing is ever synced, so the deploy figures would mean nothing. */
export function openLab(): Lab {
  const root = mkdtempSync(join(tmpdir(), 'svc-bench-'))
  if (statfsSync(root).type === TMPFS) console.warn(`${root} is in memory: set TMPDIR to a folder on a disk`)
  const running = new Set<Process>()
  return {
    folder: (name) => mkdtempSync(join(root, `${name}-`)),
    spawn(argv, options = {}) {
      const child = spawnPinned(argv, options)
      running.add(child)
      void child.exited.then(() => running.delete(child))
      return child
    },
    async close() {
      await Promise.all([...running].map((child) => child.stop()))
      rmSync(root, { recursive: true, force: true })
    },
  }
}

/** Runs a command to its end and gives its stdout; anything but exit code 0 is an error that shows stderr. */
export async function run(argv: readonly string[], options: SpawnOptions = {}): Promise<string> {
  const child = Bun.spawn(pinned(argv, options.cores ?? ALL_CORES), {
    stdout: 'pipe',
    stderr: 'pipe',
    stdin: 'ignore',
    env: { ...process.env, ...options.env },
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  })
  const [code, stdout, stderr] = await Promise.all([
    child.exited,
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  if (code !== 0) throw new Error(`${argv.join(' ')} ended with ${code}\n${stdout}${stderr}`)
  return stdout
}

/** Says what is missing and how to get it; undefined when everything is there. */
export function missingTools(): string | undefined {
  const packages = { nginx: 'nginx', caddy: 'caddy', wrk: 'wrk', taskset: 'util-linux', tar: 'tar' }
  const missing = Object.entries(packages).filter(([tool]) => findTool(tool) === null)
  if (missing.length > 0) return `missing: apt-get install ${missing.map(([, name]) => name).join(' ')}`
  if (!existsSync(svcExecutable)) return 'missing: dist/svc (npm run build)'
  return undefined
}

/** Debian keeps nginx in /usr/sbin, which is not on every user's path. */
function findTool(name: string): string | null {
  return Bun.which(name, { PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` })
}

/** Keeps this program off the server's core. Children inherit it, so each names its own cores. */
export async function pinSelf(): Promise<void> {
  await Bun.$`taskset -acp ${LOAD_CORE} ${process.pid}`.quiet()
}

function spawnPinned(argv: readonly string[], options: SpawnOptions): Process {
  const child = Bun.spawn(pinned(argv, options.cores ?? SERVER_CORE), {
    stdout: 'ignore',
    stderr: 'pipe',
    stdin: 'ignore',
    env: { ...process.env, ...options.env },
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  })
  const stderr = new Response(child.stderr).text()
  return {
    pid: child.pid,
    exited: child.exited,
    output: () => stderr,
    async stop() {
      child.kill('SIGTERM')
      const late = setTimeout(() => child.kill('SIGKILL'), 12_000)
      await child.exited
      clearTimeout(late)
    },
  }
}

/** `taskset` replaces itself by the command, so the pid is the command's own. */
function pinned(argv: readonly string[], cores: string): string[] {
  const [command = '', ...args] = argv
  return ['taskset', '-c', cores, findTool(command) ?? command, ...args]
}
