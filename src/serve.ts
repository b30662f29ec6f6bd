import { accessSync, constants, mkdirSync } from 'node:fs'
import { type App, createApp } from './app.ts'
import { type Config, ConfigError } from './config.ts'
import type { Context } from './context.ts'
import { watchOtherWriters } from './db/generation.ts'
import { onUploadProgress } from './http/upload-progress.ts'
import { type SocketOwner, socketHandlers } from './http/wire.ts'
import { type Handlers, type Listeners, listeningAt, ServeError } from './listeners.ts'
import { hasAdmin } from './modules/users/has-admin.ts'
import { keepToOurselves, openContext } from './open-context.ts'
import { lockDataDir } from './platform/instance-lock.ts'
import { signalled } from './platform/signalled.ts'

/** What the server does for itself may wait until the first visitors were served. */
const UPKEEP_DELAY_MS = 5_000
/** After SIGTERM running requests get this long; the promise is 10 s in all. */
const DRAIN_MS = 8_000
/** A connection on which nothing moves for so long is closed. */
const IDLE_SECONDS = 60

/** Opens the data directory, listens, and returns the exit code after SIGTERM or SIGINT. */
export async function serve(config: Config, version: string, write: (text: string) => void): Promise<number> {
  const lines = inBatches(write)
  keepToOurselves()
  makeDataDir(config.dataDir)
  const lock = lockDataDir(config.dataDir)
  if (lock === undefined)
    throw new ServeError(`another svc serves ${config.dataDir}; stop it or name another --data-dir`)
  const { ctx, close, listensOn } = await openContext(config, version, lines.write)
  await createUnattendedAdmin(ctx)
  const listeners = await openListeners(ctx)
  listensOn(listeners.port)
  write(welcome(ctx))
  const stopUpkeep = upkeepAfter(UPKEEP_DELAY_MS, ctx)
  const stopWatching = watchOtherWriters(ctx.db)

  await signalled()
  ctx.log.info('stopping: running requests may end')
  stopWatching()
  await Promise.race([Promise.all([listeners.stop(false), stopUpkeep()]), Bun.sleep(DRAIN_MS)])
  await listeners.stop(true)
  close()
  lock.release()
  lines.flush()
  return 0
}

function makeDataDir(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? ` (${error.code})` : ''
    throw new ConfigError(`DATA_DIR is "${path}", but must be a folder that can be made and written${why}`)
  }
}

/** Listens as the configuration says. */
export async function openListeners(ctx: Context): Promise<Listeners> {
  if (ctx.config.tls !== 'off') {
    const app = createApp(ctx)
    return (await import('./listen-tls.ts')).listenTls(ctx, app, handlers(ctx, app))
  }
  const server = listen(ctx)
  return { port: server.port ?? ctx.config.port, stop: (isForced) => server.stop(isForced) }
}

function listen(ctx: Context): Bun.Server<SocketOwner> {
  const app = createApp(ctx)
  const { host, port } = ctx.config
  return listeningAt({ host, port }, () => Bun.serve({ port, hostname: host, ...handlers(ctx, app) }))
}

function handlers(ctx: Context, app: App): Handlers {
  return {
    // Bun would answer a longer body without a word; the routes count what they read and say what is wrong.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    idleTimeout: IDLE_SECONDS,
    fetch(request, server) {
      if (request.method !== 'GET') onUploadProgress(request, () => server.timeout(request, IDLE_SECONDS))
      return app.fetch(request, new SocketPeer(request, server))
    },
    websocket: socketHandlers,
    error(error) {
      ctx.log.error('request failed', { error })
      return new Response('Internal Server Error', { status: 500 })
    },
  }
}

/** The background work is loaded and begun a little after the start. Returns how to end it, which ends all of it. */
function upkeepAfter(delayMs: number, ctx: Context): () => Promise<void> {
  let started: Promise<() => Promise<void>> | undefined
  const start = () => {
    started ??= import('./upkeep.ts').then(({ startUpkeep }) => startUpkeep(ctx))
    return started
  }
  const timer = setTimeout(start, delayMs)
  return async () => {
    clearTimeout(timer)
    const stop = await start()
    await stop()
  }
}

class SocketPeer {
  readonly #request: Request
  readonly #server: Bun.Server<SocketOwner>
  #address: string | undefined

  constructor(request: Request, server: Bun.Server<SocketOwner>) {
    this.#request = request
    this.#server = server
  }

  get address(): string {
    this.#address ??= this.#server.requestIP(this.#request)?.address ?? ''
    return this.#address
  }

  allowSilence(isAllowed: boolean): void {
    this.#server.timeout(this.#request, isAllowed ? 0 : IDLE_SECONDS)
  }

  upgrade(headers: Headers, owner: SocketOwner): boolean {
    return this.#server.upgrade(this.#request, { headers, data: owner })
  }
}

async function createUnattendedAdmin(ctx: Context): Promise<void> {
  const { adminEmail, adminPassword } = ctx.config
  if (adminEmail === null || adminPassword === null || hasAdmin(ctx.db)) return
  const { createAccount } = await import('./modules/auth/service.ts')
  await createAccount(
    ctx,
    { email: adminEmail, password: adminPassword, role: 'admin' },
    { kind: 'operator' },
  )
}

/** Where it runs and, while there is no admin, the link that claims it. */
function welcome(ctx: Context): string {
  const setup = hasAdmin(ctx.db)
    ? ''
    : `Set up the first admin: ${ctx.adminUrl()}/setup?token=${encodeURIComponent(ctx.setupToken)}\n`
  return `svc ${ctx.version} serves ${ctx.adminUrl()}\n${setup}`
}

/** Lines are written together, some times a second: a line a request must not cost a system call a request. */
function inBatches(write: (text: string) => void): { write: (text: string) => void; flush: () => void } {
  let waiting: string[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    const text = waiting.join('')
    waiting = []
    if (text !== '') write(text)
  }
  return {
    write(text) {
      waiting.push(text)
      if (waiting.length >= 1000) flush()
      else timer ??= setTimeout(flush, 50)
    },
    flush,
  }
}
