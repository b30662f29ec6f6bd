import { LOAD_CORE, run } from './lab.ts'
import { cpuSeconds } from './proc.ts'

type LoadOptions = {
  port: number
  host: string
  path: string
  headers?: Readonly<Record<string, string>>
  seconds: number
  connections?: number
  /** A wrk script; it then sets the request itself. */
  script?: string
  /** The server, for its CPU time. */
  pid: number
}

export type LoadResult = { requestsPerSecond: number; p50Ms: number; p99Ms: number; cpuMicros: number }

/** Loads one address by wrk over kept connections. Any answer that is not 2xx or 3xx, and any socket error, is an error. */
export async function load(options: LoadOptions): Promise<LoadResult> {
  const before = cpuSeconds(options.pid)
  const output = await run(wrkCommand(options), { cores: LOAD_CORE })
  const cpu = cpuSeconds(options.pid) - before
  const { requests, ...result } = parseWrk(output)
  return { ...result, cpuMicros: (cpu * 1e6) / requests }
}

export function parseWrk(output: string): Omit<LoadResult, 'cpuMicros'> & { requests: number } {
  const bad = /^.*(?:Non-2xx or 3xx responses|Socket errors).*$/m.exec(output)
  if (bad !== null) throw new Error(`wrk: ${bad[0].trim()}`)
  const [p50, p99] = [percentileMs(output, 50), percentileMs(output, 99)]
  const requests = /^\s+(\d+) requests in /m.exec(output)
  const rate = /^Requests\/sec:\s+([\d.]+)/m.exec(output)
  if (p50 === null || p99 === null || requests === null || rate === null)
    throw new Error(`cannot read wrk:\n${output}`)
  return {
    requests: Number(requests[1]),
    requestsPerSecond: Number(rate[1]),
    p50Ms: p50,
    p99Ms: p99,
  }
}

function percentileMs(output: string, percent: number): number | null {
  const found = new RegExp(`^\\s+${percent}%\\s+([\\d.]+)(us|ms|s)\\s*$`, 'm').exec(output)
  if (found === null) return null
  return Number(found[1]) * (found[2] === 'us' ? 0.001 : found[2] === 's' ? 1000 : 1)
}

export type Answer = { status: number; headers: Headers; body: Uint8Array }

/** One request with the host's name in its Host header. Redirects are not followed, bodies not unpacked. */
export async function ask(
  server: { port: number; host: string },
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    headers: { host: server.host, 'accept-encoding': 'identity', ...headers },
    redirect: 'manual',
    decompress: false,
  } as BunFetchRequestInit)
  return { status: response.status, headers: response.headers, body: await response.bytes() }
}

function wrkCommand(options: LoadOptions): string[] {
  const { port, host, path, seconds, connections = 64, headers = {}, script } = options
  const sent = Object.entries({ Host: host, ...headers }).flatMap(([name, value]) => [
    '-H',
    `${name}: ${value}`,
  ])
  const scripted = script === undefined ? [] : ['-s', script]
  // A late answer is no error here: it is in the percentiles.
  const fixed = ['-t1', `-c${connections}`, `-d${seconds}s`, '--latency', '--timeout', '20s']
  return [
    'wrk',
    ...fixed,
    ...(script === undefined ? sent : []),
    ...scripted,
    `http://127.0.0.1:${port}${path}`,
  ]
}
