import { connect, createServer, type Socket } from 'node:net'

type Relay = { port: number; close(): void }

/** Relays TCP to a loopback port that is then `ms` away: half of it in each direction. */
export async function startDelayingRelay(port: number, ms: number): Promise<Relay> {
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    passOn(client, upstream, ms / 2)
    passOn(upstream, client, ms / 2)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return { port: address.port, close: () => server.close() }
}

function passOn(from: Socket, to: Socket, ms: number): void {
  from.setNoDelay(true)
  from.on('data', (chunk) => setTimeout(() => to.write(chunk), ms))
  from.on('end', () => setTimeout(() => to.end(), ms))
  from.on('error', () => to.destroy())
}
