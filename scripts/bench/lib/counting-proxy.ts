import { connect, createServer } from 'node:net'
import { RequestCounter, type SeenRequest } from './request-counter.ts'

/** What went from client to server: every byte of it, and the requests with the sizes of their bodies. */
export type Traffic = { bytes: number; requests: SeenRequest[] }

type CountingProxy = { url: string; traffic: Traffic; close(): void }

/** Relays TCP to a loopback port and changes nothing; what the client sends is counted on its way. */
export async function startCountingProxy(port: number): Promise<CountingProxy> {
  const traffic: Traffic = { bytes: 0, requests: [] }
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    const counter = new RequestCounter(traffic.requests)
    client.on('data', (chunk: Buffer) => {
      traffic.bytes += chunk.length
      counter.push(chunk)
    })
    client.pipe(upstream).pipe(client)
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      socket.on('error', () => other.destroy())
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return { url: `http://127.0.0.1:${address.port}`, traffic, close: () => server.close() }
}
