import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { programWith } from './program.ts'
import { until } from './until.ts'

type Finished = { code: number; stdout: string; stderr: string }

/** The real program in a separate process. `dataDir` is created, and deleted by `remove`. */
export type ServerProcess = {
  url: string
  /** The URL of the plain listener with `TLS` on; otherwise the same. */
  plainUrl: string
  pid: number
  dataDir: string
  /** The output on stdout so far. */
  output(): string
  signal(name: NodeJS.Signals): void
  exited: Promise<number>
}

export function makeDataDir(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'svc-process-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

/** Runs a command until it ends. `before` is a command that runs it. */
export async function runSvc(
  args: string[],
  options: { env?: Record<string, string>; stdin?: string; before?: readonly string[] } = {},
): Promise<Finished> {
  const child = Bun.spawn([...(options.before ?? []), ...programWith(options.env), ...args], {
    env: { PATH: process.env['PATH'] ?? '', ...options.env },
    stdin: options.stdin === undefined ? 'ignore' : new Blob([options.stdin]),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { code: await child.exited, stdout, stderr }
}

/** A command prefix that gives the server a data directory on a separate file system of this many MiB. */
export const onSmallDisk = (dataDir: string, sizeMib: number): string[] => [
  'unshare',
  ...(process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']),
  '--mount',
  'sh',
  '-c',
  `mount -t tmpfs -o size=${sizeMib * 1024}k tmpfs "$0" && exec "$@"`,
  dataDir,
]

/**
 * Starts the server on a free port and waits until it is healthy. If it ends instead, throws its output. `before` is a
 * command that runs it, such as `onSmallDisk`, and that may withhold its output. `ready`: the statuses of its health that
 * will do; on a full disk that is 503.
 */
export async function startServer(
  dataDir: string,
  env: Record<string, string> = {},
  before: readonly string[] = [],
  ready: readonly number[] = [200],
): Promise<ServerProcess> {
  // If the system assigns the port itself, nobody else can take it in the meantime.
  const given = Number(env['PORT'] ?? (before.length === 0 ? 0 : freePort()))
  const isTls = (env['TLS'] ?? 'off') !== 'off'
  const givenPlain = isTls ? freePort() : given
  const child = Bun.spawn([...before, ...programWith(env), 'serve'], {
    env: {
      PATH: process.env['PATH'] ?? '',
      PORT: String(given),
      HTTP_PORT: String(givenPlain),
      HOST: '127.0.0.1',
      DATA_DIR: dataDir,
      RATE_LIMIT_API: '0',
      RATE_LIMIT_UPLOAD: '0',
      ...env,
    },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  let output = ''
  const reading = (async () => {
    for await (const chunk of child.stdout) output += new TextDecoder().decode(chunk)
  })()
  const exited = child.exited.then(async (code) => {
    await reading
    return code
  })
  const check = endingWith(child.exited, () => output)
  const port = given === 0 ? await until('the port', () => check(() => portIn(output))) : given
  const host = env['HOST'] ?? '127.0.0.1'
  const url = `${isTls ? 'https' : 'http'}://${host}:${port}`
  const plainUrl = isTls ? `http://${host}:${givenPlain}` : url
  await until('the server', () => check(() => isReady(plainUrl, ready)))
  return {
    url,
    plainUrl,
    pid: child.pid,
    dataDir,
    output: () => output,
    signal: (name) => child.kill(name),
    exited,
  }
}

type Check = <T>(check: () => T) => T

/** Throws the output of the server once it has ended, and checks before that. */
function endingWith(exited: Promise<number>, output: () => string): Check {
  let code: number | undefined
  void exited.then((value) => {
    code = value
  })
  return (check) => {
    if (code !== undefined) throw new Error(`the server ended with ${code}: ${output()}`)
    return check()
  }
}

/** The port in the address that the server prints; undefined before that. */
function portIn(output: string): number | undefined {
  const [, port] = / serves https?:\/\/\S+:(\d+)\n/.exec(output) ?? []
  return port === undefined ? undefined : Number(port)
}

async function isReady(url: string, ready: readonly number[]): Promise<boolean> {
  const answer = await fetch(`${url}/api/health`).catch(() => undefined)
  await answer?.body?.cancel()
  return answer !== undefined && ready.includes(answer.status)
}

/** A port that was free a moment ago. */
export function freePort(): number {
  const probe = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const { port } = probe
  probe.stop(true)
  return port
}
