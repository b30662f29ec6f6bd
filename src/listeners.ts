import type { SocketOwner } from './http/wire.ts'

/** The server cannot start; the message says why. */
export class ServeError extends Error {}

/** All that listens at once. */
export type Listeners = {
  /** Where visitors come in. */
  port: number
  /** As `Bun.Server.stop`. */
  stop(isForced: boolean): Promise<void>
}

/** What a listener does for visitors, without where it listens. */
export type Handlers = {
  maxRequestBodySize: number
  idleTimeout: number
  fetch: (request: Request, server: Bun.Server<SocketOwner>) => Response | Promise<Response>
  websocket: Bun.WebSocketHandler<SocketOwner>
  error: (error: Error) => Response
}

/** What `open` opens at that place. Throws `ServeError` where the system refuses it, such as a port that is taken. */
export function listeningAt<T>({ host, port }: { host: string; port: number }, open: () => T): T {
  try {
    return open()
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    const hint = error.code === 'EACCES' ? ': a port below 1024 needs CAP_NET_BIND_SERVICE' : ''
    throw new ServeError(`cannot listen on ${host}:${port}: ${error.message} (${error.code})${hint}`)
  }
}
