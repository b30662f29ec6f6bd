import { type Config, ConfigError } from '../config/config.ts'
import type { Context } from '../context.ts'
import { checkpointApart, keepCheckpointed } from '../db/checkpoint.ts'
import { watchOtherWriters } from '../db/generation.ts'
import { shipped } from '../db/shipped.ts'
import { messageOf } from '../domain/errors.ts'
import { onUploadProgress } from '../http/upload-progress.ts'
import { createSockets, type SocketOwner } from '../http/wire.ts'
import { openTargets } from '../modules/cdn/targets.ts'
import { hasAdmin } from '../modules/users/has-admin.ts'
import { isCopy } from '../platform/copy-of-store.ts'
import { enterDataDir, findUnusable } from '../platform/data-dir.ts'
import { lockDataDir } from '../platform/instance-lock.ts'
import { linesOut, type Put } from '../platform/lines-out.ts'
import type { Log } from '../platform/log.ts'
import { keepReserve, type Reserve } from '../platform/reserve.ts'
import { outliveHangUp, signalled } from '../platform/signalled.ts'
import { logStrayErrors } from '../platform/stray-errors.ts'
import { type App, createApp } from './app.ts'
import type { CertificateStorage } from './listener-certificates.ts'
import { type Handlers, type Listeners, listeningAt, requireKnownHost, ServeError } from './listeners.ts'
import { type OpenedContext, openContext } from './open-context.ts'
import type { OpenedWorkspace } from './store/open-context.ts'

/** Background work waits until the first visitors have been served. */
const UPKEEP_DELAY_MS = 5_000
/** Running requests get this long after SIGTERM; the promise is 10 s in total. */
const DRAIN_MS = 8_000
/** How long connections may take to be cut then. */
const FORCED_MS = 500
/** A connection without traffic is closed after this time. */
const IDLE_SECONDS = 60

/**
 * Opens the data directory, listens, and returns the exit code after SIGTERM or SIGINT. `put` receives the log. On a
 * terminal the server ends with it.
 */
export async function serve(
  config: Config,
  version: string,
  { put, isTerminal }: { put: Put; isTerminal: boolean },
): Promise<number> {
  let log: Log | undefined
  const lines = linesOut(put, (lost) => log?.warn('lines of this log were lost', { lines: lost }))
  enterDataDir(config.dataDir)
  const unusable = findUnusable(config.dataDir)
  if (unusable !== undefined) throw new ConfigError(unusable)
  const lock = lockDataDir(config.dataDir)
  if (lock === undefined)
    throw new ServeError(`another svc serves ${config.dataDir}; stop it or choose another --data-dir`)
  const { ctx, close, listensOn, ship, deposed, storage } = await opened(config, version, lines.write)
  log = ctx.log
  logStrayErrors(log)
  if (!isTerminal) outliveHangUp(ctx.log)
  warnOfUntrustedProxy(ctx)
  await createUnattendedAdmin(ctx)
  await shipped(ctx).catch((error) => {
    throw new ServeError(messageOf(error))
  })
  openTargets(ctx)
  const listeners = await openListeners(ctx, storage ?? null)
  listensOn(listeners.port)
  ctx.db.reserve = reserveFor(ctx)
  lines.write(welcome(ctx))
  void lines.flush()
  const stopUpkeep = upkeepAfter(UPKEEP_DELAY_MS, ctx)
  const stopPurging = await purging(ctx)
  const stopWatching = watchOtherWriters(ctx.db)
  const stopCheckpoints = ctx.db.log.isOfDisk ? keepCheckpointed(ctx.db) : async () => {}
  const stopControl = await controlling(ctx)
  void deposed?.then(() => Promise.all([stopControl(), stopUpkeep(), stopPurging()]))

  await signalled()
  ctx.log.info('stopping: waiting for running requests')
  stopWatching()
  await Promise.race([
    allEnd(ctx, [
      listeners.stop(false),
      stopUpkeep(),
      stopPurging(),
      stopControl(),
      stopCheckpoints(),
      ctx.db.reserve.stop(),
    ]),
    Bun.sleep(DRAIN_MS),
  ])
  // The runtime may wait for ever for a request that it takes to be running.
  await Promise.race([listeners.stop(true), Bun.sleep(FORCED_MS)])
  await ship?.()
  close()
  lock.release()
  await lines.flush()
  return 0
}

/** What cannot be stopped ends with the process, and keeps nothing else from ending. */
async function allEnd({ log }: Context, work: Promise<unknown>[]): Promise<void> {
  const failed = (error: unknown) => log.error('some work could not be stopped', { error })
  await Promise.all(work.map((one) => one.catch(failed)))
}

/** A data directory, or the workspace in the object store that the settings name. */
async function opened(
  config: Config,
  version: string,
  write: (text: string) => void,
): Promise<OpenedContext & Partial<OpenedWorkspace>> {
  if (config.storeUrl === null) {
    refuseCopy(config.dataDir)
    return openContext(config, version, write)
  }
  const { openWorkspace } = await import('./store/open-context.ts')
  return openWorkspace(config, version, write)
}

/** Its database would go on without the store, and most contents are not there. */
function refuseCopy(dataDir: string): void {
  if (isCopy(dataDir))
    throw new ConfigError(
      `${dataDir} is a copy of a workspace in an object store: set STORE_URL, or choose another DATA_DIR, into which svc restore s3://… puts the workspace`,
    )
}

/** With the log copied into the database while there is room: on a full disk it can then begin anew. */
const reserveFor = ({ config, db, log }: Context): Reserve =>
  keepReserve(config.dataDir, {
    made: () => void (db.log.isOfDisk && checkpointApart(db.sqlite.filename)),
    failed: (error) => log.warn('the reserve for a full disk could not be made', { error }),
  })

/** Warns if there must be a proxy in front (https links without our own TLS) whose headers are not trusted. */
function warnOfUntrustedProxy({ config: { tls, publicUrl, trustProxy }, log }: Context): void {
  if (tls !== 'off' || publicUrl?.startsWith('https:') !== true || trustProxy.length > 0) return
  log.warn(
    "PUBLIC_URL is https, but TRUST_PROXY names no proxy: cookies are not Secure, and all visitors have the proxy's address",
  )
}

/** Listens as configured. Stopping closes WebSockets at once. */
export async function openListeners(
  ctx: Context,
  storage: CertificateStorage | null = null,
): Promise<Listeners> {
  const app = await appOf(ctx)
  const sockets = createSockets()
  const all = { ...handlers(ctx, app), websocket: sockets.handlers }
  const { port, stop } = await listen({ ctx, app, storage }, all)
  return {
    port,
    stop(isForced) {
      sockets.endAll()
      return stop(isForced)
    },
  }
}

async function appOf(ctx: Context): Promise<App> {
  if (ctx.machine === null) return createApp(ctx)
  const { createStoreApp } = await import('./store/app.ts')
  return createStoreApp(ctx, ctx.machine)
}

type Listening = { ctx: Context; app: App; storage: CertificateStorage | null }

async function listen({ ctx, app, storage }: Listening, handlers: Handlers): Promise<Listeners> {
  const { config, log } = ctx
  const { tls, host, port } = config
  await requireKnownHost(host)
  if (tls !== 'off') {
    const { listenTls } = await import('./listen-tls.ts')
    const { ListenerCertificates } = await import('./listener-certificates.ts')
    const certificates = new ListenerCertificates()
    return listenTls({ config, log, app, certificates, current: () => ctx, storage }, handlers)
  }
  const server = listeningAt({ host, port }, () => Bun.serve({ port, hostname: host, ...handlers }))
  return { port: server.port ?? port, stop: (isForced) => server.stop(isForced) }
}

function handlers(ctx: Context, app: App): Omit<Handlers, 'websocket'> {
  return {
    // Bun would reject a longer body without an explanation; the routes enforce limits while reading and explain them.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    idleTimeout: IDLE_SECONDS,
    fetch(request, server) {
      const peer = new SocketPeer(request, server)
      if (request.method !== 'GET') onUploadProgress(request, peer)
      return app.fetch(request, peer)
    },
    error(error) {
      ctx.log.error('request failed', { error })
      return new Response('Internal Server Error', { status: 500 })
    },
  }
}

/** Sends what the CDN is to forget. Not with the other upkeep: a change waits at most a second. */
async function purging(ctx: Context): Promise<() => Promise<void>> {
  if (ctx.config.cdnKind === null) return async () => {}
  const { startPurging } = await import('../modules/cdn/dispatch.ts')
  return startPurging(ctx)
}

/** Commands write through the server where the store has to have it. */
async function controlling(ctx: Context): Promise<() => Promise<void>> {
  if (ctx.machine === null) return async () => {}
  const { openControl } = await import('./store/control.ts')
  return openControl(ctx)
}

/** Loads and starts the background work a little later. Returns a function that stops all of it. */
function upkeepAfter(delayMs: number, ctx: Context): () => Promise<void> {
  let started: Promise<() => Promise<void>> | undefined
  const timer = setTimeout(() => {
    started = import('./upkeep.ts').then(({ startUpkeep }) => startUpkeep(ctx))
  }, delayMs)
  return async () => {
    clearTimeout(timer)
    const { stopWork } = await import('./upkeep.ts')
    const stop = await started
    await (stop === undefined ? stopWork(ctx) : stop())
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
  const { createAccount } = await import('../modules/users/service.ts')
  await createAccount(
    ctx,
    { email: adminEmail, password: adminPassword, role: 'admin' },
    { kind: 'operator' },
  )
}

/** The address and, while there is no admin, the set-up link. */
function welcome(ctx: Context): string {
  const setup = hasAdmin(ctx.db)
    ? ''
    : `Set up the first admin: ${ctx.adminUrl()}/setup?token=${encodeURIComponent(ctx.setupToken)}\n`
  return `svc ${ctx.version} serves ${ctx.adminUrl()}\n${setup}`
}
