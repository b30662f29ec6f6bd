import { type Config, ConfigError } from '../config/config.ts'
import type { Context } from '../context.ts'
import { messageOf } from '../domain/errors.ts'
import { normalizeHost } from '../domain/hostname.ts'
import type { Certificates } from '../platform/certificates.ts'
import { CertificateFileError, openCertificateFiles } from '../platform/tls/files.ts'
import { createTlsListener, type TlsListener } from '../platform/tls/listener.ts'
import type { App } from './app.ts'
import { type Handlers, type Listeners, listeningAt } from './listeners.ts'
import { createPlainDoor } from './plain-door.ts'
import type { Serving } from './serving.ts'

type OwnCertificates = Certificates & { stop(): void | Promise<void> }

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
export async function listenTls(serving: Serving, handlers: Handlers): Promise<Listeners> {
  const { ctx } = serving
  const { config } = ctx
  const files = config.tls === 'files' ? filesOf(ctx) : undefined
  if (files !== undefined) ctx.certificates = files
  const port = claimPort(config.host, config.port)
  const secured = securedBy(ctx, port, handlers)
  const plain = config.httpPort === null ? undefined : listenPlain(serving, config.httpPort, secured)
  const certificates = files ?? (await automatic(ctx))
  ctx.certificates = certificates
  await serveWith(ctx, certificates, secured)
  certificates.onChange(() => serveWith(ctx, certificates, secured))
  return {
    port,
    async stop(isForced) {
      await Promise.all([plain?.stop(isForced), secured.stop(isForced), certificates.stop()])
    },
  }
}

function filesOf(ctx: Context): OwnCertificates {
  const { tlsCertFile, tlsKeyFile } = ctx.config
  try {
    return openCertificateFiles({ certFile: tlsCertFile ?? '', keyFile: tlsKeyFile ?? '' }, ctx)
  } catch (error) {
    if (error instanceof CertificateFileError) throw new ConfigError(error.message)
    throw error
  }
}

async function automatic(ctx: Context): Promise<OwnCertificates> {
  const { createAutoCertificates } = await import('../modules/certificates/auto.ts')
  return createAutoCertificates(ctx)
}

/** Does nothing without certificates: the listener opens with the first. Rejects only if it was never open. */
async function serveWith(ctx: Context, certificates: Certificates, secured: TlsListener): Promise<void> {
  const all = certificates.all()
  if (all.length === 0) return
  const wasOpen = secured.isOpen()
  try {
    await secured.serve(all)
    if (!wasOpen && ctx.config.tls === 'auto') ctx.log.info('serving the first certificate')
  } catch (error) {
    if (!wasOpen && ctx.config.tls === 'files') throw unusable(ctx.config, error)
    ctx.log.error('the certificates cannot be used; retrying', { error })
    setTimeout(() => void serveWith(ctx, certificates, secured), RETRY_MS).unref()
  }
}

function unusable({ tlsCertFile }: Config, error: unknown): ConfigError {
  const reason = messageOf(error)
  return new ConfigError(`TLS_CERT_FILE is "${tlsCertFile}", but must be a usable certificate: ${reason}`)
}

function securedBy(ctx: Context, port: number, handlers: Handlers): TlsListener {
  const { host, adminHost } = ctx.config
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

function listenPlain(serving: Serving, port: number, secured: TlsListener): Bun.Server<undefined> {
  const { ctx } = serving
  const { host } = ctx.config
  const app: App = { fetch: (request, peer) => serving.app.fetch(request, peer) }
  const door = createPlainDoor(ctx, app, secured.isOpen)
  return listeningAt({ host, port }, () =>
    Bun.serve({
      port,
      hostname: host,
      idleTimeout: PLAIN_IDLE_SECONDS,
      fetch: (request, server) => door(request, { address: server.requestIP(request)?.address ?? '' }),
      error(error) {
        ctx.log.error('request failed', { error })
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
