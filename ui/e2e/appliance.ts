import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const ADMIN = { email: 'ada@example.com', password: 'correct horse battery' }

export const EXECUTABLE = process.env['SVC_EXECUTABLE'] ?? join(import.meta.dirname, '../../dist/svc')
/** A machine that runs other things beside it is slow, not wrong. */
const START_MS = 60_000

type Cookie = { name: string; value: string }

/** The compiled executable with its own empty data directory. */
export type Appliance = {
  port: number
  /** The origin of the plain HTTP listener; the same as `url` without `TLS`. */
  plainPort: number
  /** Origin of the admin; the host of a site has the same port. */
  url: string
  dataDir: string
  /** Its output so far. */
  output(): string
  /** Runs a command of the same executable. Returns both output streams together. */
  svc(args: string[], env?: Record<string, string>): Promise<{ exitCode: number; output: string }>
  /** The session of the admin from `ADMIN_EMAIL`. */
  adminCookies(): Promise<Cookie[]>
  /** Calls the API as that admin. */
  asAdmin(method: string, path: string, json?: unknown): Promise<Response>
  stop(): Promise<void>
}

export async function startAppliance(
  env: Record<string, string>,
  executable = EXECUTABLE,
): Promise<Appliance> {
  const port = await freePort()
  const isTls = (env['TLS'] ?? 'off') !== 'off'
  const plainPort = isTls ? await freePort() : port
  const home = mkdtempSync(join(tmpdir(), 'svc-e2e-'))
  const beginsAnew = env['DATA_DIR'] === undefined && env['STORE_URL'] === undefined
  if (env['ADMIN_EMAIL'] === ADMIN.email && beginsAnew) cpSync(await begun(), home, { recursive: true })
  const server = spawn(executable, ['serve'], {
    cwd: home,
    env: {
      ...systemEnv(),
      PORT: String(port),
      HTTP_PORT: String(plainPort),
      HOST: '127.0.0.1',
      DATA_DIR: home,
      LOG_LEVEL: 'error',
      ...env,
    },
  })
  const output = collect(server)
  await ready(`http://127.0.0.1:${plainPort}`, server, output)
  return {
    ...clientsOf(env, { port, plainPort, home }),
    url: `${isTls ? 'https' : 'http'}://${adminHostOf(env)}:${port}`,
    output,
    async stop() {
      if (server.exitCode === null) {
        server.kill('SIGTERM')
        await once(server, 'exit')
      }
      rmSync(home, { recursive: true, force: true })
      if (server.exitCode !== 0) throw new Error(`svc ended with ${server.exitCode}:\n${output()}`)
    },
  }
}

let beginning: Promise<string> | undefined
/** What the first start with the admin makes of an empty folder takes as long as the rest of a start, so it is made once. */
const begun = (): Promise<string> => {
  beginning ??= begin()
  return beginning
}

async function begin(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-e2e-begun-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const { email, password } = ADMIN
  const first = { DATA_DIR: folder, ADMIN_EMAIL: email, ADMIN_PASSWORD: password }
  await (await startAppliance(first)).stop()
  return folder
}

const adminHostOf = (env: Record<string, string>) =>
  env['ADMIN_HOST'] ?? (env['BASE_DOMAIN'] === undefined ? 'localhost' : `admin.${env['BASE_DOMAIN']}`)

/** The parts of an appliance that call it. */
export function clientsOf(
  env: Record<string, string>,
  { port, plainPort, home }: { port: number; plainPort: number; home: string },
): Omit<Appliance, 'output' | 'stop'> {
  const api = `http://127.0.0.1:${plainPort}`
  let cookies: Promise<Cookie[]> | undefined
  const adminCookies = () => {
    cookies ??= signIn(api)
    return cookies
  }
  return {
    port,
    plainPort,
    url: `http://${adminHostOf(env)}:${port}`,
    dataDir: home,
    svc: (args, extra = {}) => run(args, home, { ...systemEnv(), ...extra }),
    adminCookies,
    async asAdmin(method, path, json) {
      const cookie = (await adminCookies()).map(({ name, value }) => `${name}=${value}`).join('; ')
      return again(async () =>
        fetch(`${api}${path}`, {
          method,
          headers: { cookie, 'content-type': 'application/json' },
          ...(json === undefined ? {} : { body: JSON.stringify(json) }),
        }),
      )
    },
  }
}

/** As programs do it: what no machine could take is sent again. */
export async function again(send: () => Promise<Response>, left = 3): Promise<Response> {
  const answer = await send()
  if (answer.status !== 503 || left === 0) return answer
  await answer.body?.cancel()
  await new Promise((resolve) => setTimeout(resolve, Number(answer.headers.get('retry-after') ?? 2) * 1_000))
  return again(send, left - 1)
}

/** Keeps the caller's settings away from the server. */
const systemEnv = (): Record<string, string> => ({ PATH: process.env['PATH'] ?? '', HOME: tmpdir() })

export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  probe.close()
  await once(probe, 'close')
  if (address === null || typeof address === 'string') throw new Error('no free port')
  return address.port
}

function collect(child: ChildProcess): () => string {
  const chunks: string[] = []
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => chunks.push(chunk.toString()))
  return () => chunks.join('')
}

async function ready(api: string, server: ChildProcess, output: () => string): Promise<void> {
  const until = Date.now() + START_MS
  while (Date.now() < until && server.exitCode === null) {
    const answer = await fetch(`${api}/api/health`).catch(() => undefined)
    if (answer?.ok) return
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  server.kill('SIGKILL')
  throw new Error(`svc did not start:\n${output()}`)
}

/** A command without a server. */
export const runSvc = (args: string[], env: Record<string, string>) =>
  run(args, tmpdir(), { ...systemEnv(), ...env })

async function run(args: string[], cwd: string, env: Record<string, string>) {
  const child = spawn(EXECUTABLE, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const output = collect(child)
  const [exitCode] = await once(child, 'close')
  return { exitCode: Number(exitCode), output: output() }
}

async function signIn(api: string): Promise<Cookie[]> {
  const answer = await again(() =>
    fetch(`${api}/api/auth/signin`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(ADMIN),
    }),
  )
  if (!answer.ok) throw new Error(`the admin could not sign in: ${await answer.text()}`)
  return answer.headers.getSetCookie().map((one) => {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(one) ?? []
    return { name, value }
  })
}
