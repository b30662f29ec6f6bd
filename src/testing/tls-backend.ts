import { createServer as createPlainServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import type { TestCertificate } from './test-ca.ts'

/** A server of raw bytes on loopback, so that a test can send responses that no proper server would. */
export type RawBackend = {
  port: number
  /** Everything received, as Latin-1, one entry per connection. */
  received: string[]
  close(): Promise<void>
}

type Connected = (socket: Socket, index: number) => void

/** `connected` receives each connection once TLS is up, with its index. */
export function rawTlsBackend(
  certificate: TestCertificate,
  connected: Connected,
  port = 0,
): Promise<RawBackend> {
  return started((accept) => createTlsServer({ ...certificate }, accept), connected, port)
}

export function rawPlainBackend(connected: Connected): Promise<RawBackend> {
  return started((accept) => createPlainServer(accept), connected)
}

async function started(
  create: (accept: (socket: Socket) => void) => Server,
  connected: Connected,
  port = 0,
): Promise<RawBackend> {
  const received: string[] = []
  const sockets = new Set<Socket>()
  const server = create((socket) => {
    const index = sockets.size
    sockets.add(socket)
    received[index] = ''
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      received[index] += bytes.toString('latin1')
    })
    connected(socket, index)
  })
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    received,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resolve())
      }),
  }
}

/** Calls `act` for every complete request without a body. */
export function onRequest(socket: Socket, act: (head: string, index: number) => void): void {
  let text = ''
  let index = 0
  socket.on('data', (bytes) => {
    text += bytes.toString('latin1')
    for (let end = text.indexOf('\r\n\r\n'); end !== -1; end = text.indexOf('\r\n\r\n')) {
      const head = text.slice(0, end)
      text = text.slice(end + 4)
      act(head, index)
      index += 1
    }
  })
}

/** Sends a complete response with a length. */
export const answer = (socket: Socket, text: string): boolean =>
  socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}`)
