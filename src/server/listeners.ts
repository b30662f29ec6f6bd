import { ConfigError } from '../config/config.ts'
import { isIpLiteral } from '../domain/hostname.ts'
import type { SocketOwner } from '../http/wire.ts'

/** The server cannot start; the message says why. */
export class ServeError extends Error {}

/** All listeners together. */
export type Listeners = {
  /** The port for visitors. */
  port: number
  /** As `Bun.Server.stop`. */
  stop(isForced: boolean): Promise<void>
}

/** The handlers of a listener, independent of its address. */
export type Handlers = {
  maxRequestBodySize: number
  idleTimeout: number
  fetch: (request: Request, server: Bun.Server<SocketOwner>) => Response | Promise<Response>
  websocket: Bun.WebSocketHandler<SocketOwner>
  error: (error: Error) => Response
}

/**
 * Opens a listener at that address. Throws `ServeError` if the system refuses, for example because the port is in use,
 * and `ConfigError` if the host is not this machine.
 */
export function listeningAt<T>({ host, port }: { host: string; port: number }, open: () => T): T {
  try {
    return open()
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    if (ELSEWHERE.has(error.code)) throw notThisMachine(host, error.code)
    const why = REASONS.get(error.code) ?? error.message
    throw new ServeError(`cannot listen on ${host}:${port}: ${why} (${error.code})`)
  }
}

/**
 * Throws `ConfigError` for a name that does not exist, and `ServeError` if nobody can say now, as at the start of a
 * machine whose network is not up yet. Listening there fails too, but with whatever error the system had last.
 */
export async function requireKnownHost(host: string, lookUp: LookUp = lookUpHere): Promise<void> {
  if (isIpLiteral(host)) return
  try {
    await lookUp(host)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : error
    if (UNKNOWN_NAME.has(code)) throw notThisMachine(host, code)
    throw new ServeError(`cannot listen on ${host}: the name could not be looked up (${code})`)
  }
}

type LookUp = (host: string) => Promise<unknown>

/** As listening does it, and not by DNS alone. */
const lookUpHere: LookUp = (host) => Bun.dns.lookup(host, { backend: 'getaddrinfo' })

const UNKNOWN_NAME: ReadonlySet<unknown> = new Set(['DNS_ENOTFOUND', 'DNS_ENODATA'])

const notThisMachine = (host: string, code: unknown): ConfigError =>
  new ConfigError(`HOST is "${host}", but must be an address or name of this machine (${code})`)

const ELSEWHERE: ReadonlySet<unknown> = new Set(['EINVAL', 'EADDRNOTAVAIL'])

const REASONS: ReadonlyMap<unknown, string> = new Map([
  ['EACCES', 'a port below 1024 needs CAP_NET_BIND_SERVICE'],
  ['EADDRINUSE', 'another program uses this port; end it, or choose another port'],
])
