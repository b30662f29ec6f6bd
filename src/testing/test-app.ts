import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../config/config.ts'
import type { Context } from '../context.ts'
import { openLogsDb } from '../db/logs-db.ts'
import type { Actor } from '../domain/actor.ts'
import type { GlobalRole } from '../domain/roles.ts'
import { createAccount } from '../modules/users/service.ts'
import type { RemoteOptions } from '../platform/blob-store.ts'
import type { OutboundOptions } from '../platform/outbound.ts'
import { createPasswords } from '../platform/passwords.ts'
import { type App, createApp } from '../server/app.ts'
import { createContext } from '../server/open-context.ts'
import { CHEAP } from './cheap-passwords.ts'
import { newDatabase } from './new-database.ts'

export const PASSWORD = 'correct horse battery'
export const NOON = Date.parse('2026-11-20T12:00:00.000Z')

export type CallOptions = {
  /** The caller: an email of `signUp`, signed in on first use. */
  as?: string | undefined
  key?: string | undefined
  /** Defaults to `localhost`, the admin host. */
  host?: string | undefined
  json?: unknown
  body?: BodyInit | undefined
  headers?: Record<string, string> | undefined
  /** The peer's address; defaults to loopback. */
  from?: string | undefined
}

/** A complete server with an in-memory database, a temporary blob folder and a clock that only moves when told to. */
export type TestApp = {
  ctx: Context
  app: App
  call(method: string, path: string, options?: CallOptions): Promise<Response>
  /** Creates an account and returns its id. */
  addUser(email: string, role?: GlobalRole): Promise<string>
  /** The `Cookie` header of a signed-in account. */
  cookieOf(email: string, host?: string): Promise<string>
  advance(ms: number): void
  /** After a time in which sessions end: whoever calls next signs in again. */
  signInAgain(): void
  /** The lines of the log. */
  lines: string[]
  close(): void
}

/**
 * Replaces name resolution. By default `*.test` is this machine, no other name resolves, and there are no TXT records.
 */
export type Outside = {
  resolve?: NonNullable<OutboundOptions['resolve']>
  resolveTxt?: Context['resolveTxt']
  limits?: NonNullable<OutboundOptions['limits']>
}

const resolveTestName = async (name: string): Promise<string[]> => {
  if (name.endsWith('.test')) return ['127.0.0.1']
  throw new Error(`${name} does not resolve in tests`)
}

/** The database is in memory, which is quicker, unless it is to be a file. */
export type TestStorage = { isOnDisk: boolean; store?: Pick<RemoteOptions, 'store' | 'epoch'> }

/** `env` is the server's environment; rate limits are off unless it sets them. */
export async function testApp(
  env: Record<string, string> = {},
  outside: Outside = {},
  { isOnDisk, store }: TestStorage = { isOnDisk: false },
): Promise<TestApp> {
  const root = mkdtempSync(join(tmpdir(), 'svc-test-'))
  const config = loadConfig({
    env: { RATE_LIMIT_API: '0', RATE_LIMIT_UPLOAD: '0', LOG_LEVEL: 'error', DATA_DIR: root, ...env },
  })
  let at = NOON
  const lines: string[] = []
  const { resolveTxt = async () => [], resolve = resolveTestName, limits } = outside
  const opened = await createContext(config, {
    version: '0.0.0-test',
    write: (line) => lines.push(line),
    now: () => at,
    secretKeys: [config.secretKey ?? Buffer.alloc(32, 7).toString('base64')],
    setupToken: 'test-setup-token',
    db: newDatabase(at, isOnDisk ? join(root, 'svc.db') : undefined),
    logsDb: openLogsDb(':memory:'),
    port: () => config.port,
    resolveTxt,
    ...(store === undefined ? {} : { store }),
    passwords: createPasswords(undefined, CHEAP),
    outside: { resolve, ...(limits === undefined ? {} : { limits }) },
  })
  const { ctx } = opened
  const app = createApp(ctx)
  const cookies = new Map<string, string>()

  const cookieOf = async (email: string, host = 'localhost'): Promise<string> => {
    const key = `${email} ${host}`
    const known = cookies.get(key)
    if (known !== undefined) return known
    const answer = await send(app, 'POST', '/api/auth/signin', { host, json: { email, password: PASSWORD } })
    if (answer.status !== 200) throw new Error(`${email} could not sign in: ${await answer.text()}`)
    const cookie = cookieHeader(answer)
    cookies.set(key, cookie)
    return cookie
  }

  return {
    ctx,
    app,
    lines,
    cookieOf,
    close() {
      opened.close()
      rmSync(root, { recursive: true, force: true })
    },
    advance(ms) {
      at += ms
    },
    signInAgain: () => cookies.clear(),
    async addUser(email, role = 'user') {
      const operator: Actor = { kind: 'operator' }
      return (await createAccount(ctx, { email, password: PASSWORD, role }, operator)).id
    },
    async call(method, path, options = {}) {
      const cookie = options.as === undefined ? undefined : await cookieOf(options.as)
      return send(app, method, path, {
        ...options,
        headers: { ...(cookie === undefined ? {} : { cookie }), ...options.headers },
      })
    },
  }
}

/** The same on a local port, for clients that need one. */
export const listening = ({ app }: TestApp): Bun.Server<undefined> =>
  Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => app.fetch(request, { address: '127.0.0.1' }),
  })

/** The cookies set by a response, as a browser would send them back. */
export function cookieHeader(answer: Response): string {
  return answer.headers
    .getSetCookie()
    .filter((cookie) => !cookie.includes('Max-Age=0'))
    .map((cookie) => cookie.split(';')[0])
    .join('; ')
}

/** Sends a request to a server as its listener would. */
export async function send(app: App, method: string, path: string, options: CallOptions): Promise<Response> {
  const host = options.host ?? 'localhost'
  const headers = new Headers(options.headers)
  headers.set('host', host)
  if (options.key !== undefined) headers.set('x-api-key', options.key)
  if (options.json !== undefined) headers.set('content-type', 'application/json')
  const body = options.json === undefined ? options.body : JSON.stringify(options.json)
  const request = new Request(`http://${host}${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body }),
  })
  return app.fetch(request, { address: options.from ?? '127.0.0.1' })
}
