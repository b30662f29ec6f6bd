/** What becomes of a WebSocket that the server has taken over. `closed` comes last and once. */
export type SocketOwner = {
  opened(socket: VisitorSocket): void
  received(message: string | Uint8Array): void
  /** After `send` said false: more can be sent. */
  writable(): void
  closed(code: number, reason: string): void
}

/** The visitor's end of a WebSocket. */
export type VisitorSocket = {
  /** False: hold back until `writable`. The message is sent all the same. */
  send(message: string | Uint8Array): boolean
  close(code: number, reason: string): void
  /** Without a closing handshake, so that nobody takes it for a good end. */
  cut(): void
}

/** The longest message, either way. */
export const MOST_MESSAGE_BYTES = 16 * 1024 * 1024

/** The WebSockets of a listener. */
type Sockets = {
  /** For `Bun.serve`. */
  handlers: Bun.WebSocketHandler<SocketOwner>
  /** Tells all of them that the server is going away: they would last for as long as nobody hangs up. RFC 6455 §7.4.1. */
  endAll(): void
}

const GOING_AWAY = 1001

/** Sockets whose data is their owner. A silence of 5 minutes ends one. contract §8. */
export function createSockets(): Sockets {
  const open = new Set<Bun.ServerWebSocket<SocketOwner>>()
  return {
    handlers: {
      maxPayloadLength: MOST_MESSAGE_BYTES,
      idleTimeout: 300,
      open(socket) {
        open.add(socket)
        socket.data.opened({
          send: (message) => socket.send(message) !== -1,
          close: (code, reason) => void socket.close(code, reason),
          cut: () => void socket.terminate(),
        })
      },
      message: (socket, message) => socket.data.received(message),
      drain: (socket) => socket.data.writable(),
      close(socket, code, reason) {
        open.delete(socket)
        socket.data.closed(code, reason)
      },
    },
    endAll() {
      for (const socket of [...open]) socket.close(GOING_AWAY, 'The server is stopping')
    },
  }
}
