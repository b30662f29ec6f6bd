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

/** Handlers of `Bun.serve` for sockets whose data is their owner. A silence of 5 minutes ends one. contract §8. */
export const socketHandlers: Bun.WebSocketHandler<SocketOwner> = {
  maxPayloadLength: MOST_MESSAGE_BYTES,
  idleTimeout: 300,
  open(socket) {
    socket.data.opened({
      send: (message) => socket.send(message) !== -1,
      close: (code, reason) => void socket.close(code, reason),
      cut: () => void socket.terminate(),
    })
  },
  message: (socket, message) => socket.data.received(message),
  drain: (socket) => socket.data.writable(),
  close: (socket, code, reason) => socket.data.closed(code, reason),
}
