import { type Config, ConfigError } from '../config/config.ts'
import type { Context } from '../context.ts'
import { messageOf } from '../domain/errors.ts'
import { normalizeHost } from '../domain/hostname.ts'
import type { Log } from '../platform/log.ts'
import { createTlsListener, type TlsListener } from '../platform/tls/listener.ts'
import type { App } from './app.ts'
import type { CertificateStorage, ListenerCertificates } from './listener-certificates.ts'
import { type Handlers, type Listeners, listeningAt } from './listeners.ts'
import { createPlainDoor } from './plain-door.ts'

/** What is served over TLS. */
export type SecuredSite = {
  config: Config
  log: Log
  app: App
  certificates: ListenerCertificates
  /** Of the machine's role at the moment. */
  current: () => Context
  /** Where certificates are besides the data directory; null without an object store. */
  storage: CertificateStorage | null
}

const PLAIN_IDLE_SECONDS = 10
const RETRY_MS = 30_000
/** Bun checks for idle connections only every few seconds. */
const IDLE_SLACK_MS = 10_000
/** Half a year. Sites do not get it, because their owners may move them elsewhere. RFC 6797. */
const HSTS = 'max-age=15768000'

/**
 * Listens with TLS on `PORT` and without it on `HTTP_PORT`. With `TLS=auto` and no certificate yet, the TLS listener
 * opens when the first one arrives. The plain one serves the certificate authority's checks at any time.
 */
export async function listenTls(site: SecuredSite, handlers: Handlers): Promise<Listeners> {
  const { config, certificates, current, storage } = site
  if (config.tls === 'files') await certificates.serveFor(current())
  const port = claimPort(config.host, config.port)
  const secured = securedBy(config, port, handlers)
  const plain = config.httpPort === null ? undefined : listenPlain(site, config.httpPort, secured)
  if (config.tls === 'auto') await certificates.serveFor(current(), storage)
  await serveWith(site, secured)
  certificates.onChange(() => serveWith(site, secured))
  return {
    port,
    async stop(isForced) {
      await Promise.all([plain?.stop(isForced), secured.stop(isForced), certificates.stop()])
    },
  }
}

/** Does nothing without certificates: the listener opens with the first. Rejects only if it was never open. */
async function serveWith(site: SecuredSite, secured: TlsListener): Promise<void> {
  const { config, log, certificates } = site
  const all = certificates.all()
  if (all.length === 0) return
  const wasOpen = secured.isOpen()
  try {
    await secured.serve(all)
    if (!wasOpen && config.tls === 'auto') log.info('serving the first certificate')
  } catch (error) {
    if (!wasOpen && config.tls === 'files') throw unusable(config, error)
    log.error('the certificates cannot be used; retrying', { error })
    setTimeout(() => void serveWith(site, secured), RETRY_MS).unref()
  }
}

function unusable({ tlsCertFile }: Config, error: unknown): ConfigError {
  const reason = messageOf(error)
  return new ConfigError(`TLS_CERT_FILE is "${tlsCertFile}", but must be a usable certificate: ${reason}`)
}

function securedBy({ host, adminHost }: Config, port: number, handlers: Handlers): TlsListener {
  // Other servers on this machine may share the name `localhost`.
  const isPinned = adminHost !== 'localhost'
  return createTlsListener({
    mainHost: adminHost,
    lingerMs: handlers.idleTimeout * 1000 + IDLE_SLACK_MS,
    open: (tls, isRetired) =>
      Bun.serve({
        ...handlers,
        port,
        hostname: host,
        reusePort: true,
        // Used by clients that offer it by ALPN; WebSockets and older clients use HTTP/1.1.
        // docs/decisions/0011-tls-listeners.md
        http2: true,
        tls,
        fetch(request, server) {
          const answer = handlers.fetch(request, server)
          const pins = isPinned && normalizeHost(request.headers.get('host')) === adminHost
          if (!pins && !isRetired()) return answer
          const finish = (response: Response) => withHeaders(response, pins, isRetired())
          return answer instanceof Response ? finish(answer) : answer.then(finish)
        },
      }),
  })
}

/** `isLast`: the connection belongs to a listener that is being replaced. */
function withHeaders(response: Response, pins: boolean, isLast: boolean): Response {
  if (pins) response.headers.set('strict-transport-security', HSTS)
  if (isLast) response.headers.set('connection', 'close')
  return response
}

function listenPlain(
  { config: { host }, log, app, current }: SecuredSite,
  port: number,
  secured: TlsListener,
): Bun.Server<undefined> {
  const door = createPlainDoor(current, app, secured.isOpen)
  return listeningAt({ host, port }, () =>
    Bun.serve({
      port,
      hostname: host,
      idleTimeout: PLAIN_IDLE_SECONDS,
      fetch: (request, server) => door(request, { address: server.requestIP(request)?.address ?? '' }),
      error(error) {
        log.error('request failed', { error })
        return new Response('Internal Server Error', { status: 500 })
      },
    }),
  )
}

/**
 * Returns the port, or a free one for 0. Our listeners share it (`reusePort`), and the kernel would let a foreign
 * process share it too, so check first that nobody else uses it.
 */
function claimPort(host: string, port: number): number {
  const probe = listeningAt({ host, port }, () => Bun.listen({ hostname: host, port, socket: { data() {} } }))
  const claimed = probe.port
  probe.stop(true)
  return claimed
}
