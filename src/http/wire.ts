/** Handles the events of an accepted WebSocket. `closed` comes last, exactly once. */
export type SocketOwner = {
  opened(socket: VisitorSocket): void
  received(message: string | Uint8Array): void
  /** Called after `send` returned false, when more can be sent. */
  writable(): void
  closed(code: number, reason: string): void
}

/** The visitor's side of a WebSocket. */
export type VisitorSocket = {
  /** Returns false if the caller should wait for `writable`. The message is sent anyway. */
  send(message: string | Uint8Array): boolean
  close(code: number, reason: string): void
  /** Closes without a closing handshake, so that nobody takes it for a normal end. */
  cut(): void
}

/** Maximum message size in either direction. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024

/** All WebSockets of a listener. */
type Sockets = {
  /** For `Bun.serve`. */
  handlers: Bun.WebSocketHandler<SocketOwner>
  /**
   * Tells all of them that the server is stopping: they would otherwise last until somebody disconnects. RFC 6455
   * §7.4.1.
   */
  endAll(): void
}

const GOING_AWAY = 1001

/** Creates sockets whose data is their owner. Five minutes of silence ends one. contract §8. */
export function createSockets(): Sockets {
  const open = new Set<Bun.ServerWebSocket<SocketOwner>>()
  return {
    handlers: {
      maxPayloadLength: MAX_MESSAGE_BYTES,
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
