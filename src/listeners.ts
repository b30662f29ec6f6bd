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
