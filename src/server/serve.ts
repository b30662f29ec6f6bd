import { type Config, ConfigError } from '../config/config.ts'
import type { Context } from '../context.ts'
import { onUploadProgress } from '../http/upload-progress.ts'
import { createSockets, type SocketOwner } from '../http/wire.ts'
import { hasAdmin } from '../modules/users/has-admin.ts'
import { enterDataDir, findUnusable } from '../platform/data-dir.ts'
import { lockDataDir } from '../platform/instance-lock.ts'
import { linesOut, type Put } from '../platform/lines-out.ts'
import type { Log } from '../platform/log.ts'
import { outliveHangUp, signalled } from '../platform/signalled.ts'
import { logStrayErrors } from '../platform/stray-errors.ts'
import type { App } from './app.ts'
import { type Handlers, type Listeners, listeningAt, requireKnownHost, ServeError } from './listeners.ts'
import { openWorkspace } from './open-workspace.ts'
import type { Serving } from './serving.ts'

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
  const workspace = await openWorkspace(config, version, lines.write)
  const { serving } = workspace
  log = serving.ctx.log
  logStrayErrors(log)
  if (!isTerminal) outliveHangUp(log)
  warnOfUntrustedProxy(serving.ctx)
  const listeners = await openListeners(serving)
  workspace.listensOn(listeners.port)
  lines.write(welcome(serving.ctx))
  void lines.flush()
  await workspace.begin()

  await signalled()
  log.info('stopping: waiting for running requests')
  await Promise.race([Promise.all([listeners.stop(false), workspace.end()]), Bun.sleep(DRAIN_MS)])
  // The runtime may wait for ever for a request that it takes to be running.
  await Promise.race([listeners.stop(true), Bun.sleep(FORCED_MS)])
  await workspace.close()
  lock.release()
  await lines.flush()
  return 0
}

/** Warns if there must be a proxy in front (https links without our own TLS) whose headers are not trusted. */
function warnOfUntrustedProxy({ config: { tls, publicUrl, trustProxy }, log }: Context): void {
  if (tls !== 'off' || publicUrl?.startsWith('https:') !== true || trustProxy.length > 0) return
  log.warn(
    "PUBLIC_URL is https, but TRUST_PROXY names no proxy: cookies are not Secure, and all visitors have the proxy's address",
  )
}

/** Listens as configured. Stopping closes WebSockets at once. */
export async function openListeners(serving: Serving): Promise<Listeners> {
  const sockets = createSockets()
  const { port, stop } = await listen(serving, { ...handlers(serving), websocket: sockets.handlers })
  return {
    port,
    stop(isForced) {
      sockets.endAll()
      return stop(isForced)
    },
  }
}

async function listen(serving: Serving, handlers: Handlers): Promise<Listeners> {
  const { config, log } = serving.ctx
  const { tls, host, port } = config
  await requireKnownHost(host)
  if (tls !== 'off') {
    const { listenTls } = await import('./listen-tls.ts')
    const { ListenerCertificates } = await import('./listener-certificates.ts')
    const certificates = new ListenerCertificates()
    serving.certificates = certificates
    const app: App = { fetch: (request, peer) => serving.app.fetch(request, peer) }
    const { storage } = serving
    return listenTls({ config, log, app, certificates, current: () => serving.ctx, storage }, handlers)
  }
  const server = listeningAt({ host, port }, () => Bun.serve({ port, hostname: host, ...handlers }))
  return { port: server.port ?? port, stop: (isForced) => server.stop(isForced) }
}

function handlers(serving: Serving): Omit<Handlers, 'websocket'> {
  const { log } = serving.ctx
  return {
    // Bun would reject a longer body without an explanation; the routes enforce limits while reading and explain them.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    idleTimeout: IDLE_SECONDS,
    fetch(request, server) {
      const peer = new SocketPeer(request, server)
      if (request.method !== 'GET') onUploadProgress(request, peer)
      return serving.app.fetch(request, peer)
    },
    error(error) {
      log.error('request failed', { error })
      return new Response('Internal Server Error', { status: 500 })
    },
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

/** The address and, while there is no admin, the set-up link, which the primary alone takes. */
function welcome(ctx: Context): string {
  const isOfPrimary = ctx.machine === null || ctx.machine.role() === 'primary'
  const setup =
    !isOfPrimary || hasAdmin(ctx.db)
      ? ''
      : `Set up the first admin: ${ctx.adminUrl()}/setup?token=${encodeURIComponent(ctx.setupToken)}\n`
  return `svc ${ctx.version} serves ${ctx.adminUrl()}\n${setup}`
}
