import { afterEach, expect, test } from 'bun:test'
import { connect, type TLSSocket } from 'node:tls'
import { createTestCa } from '../../testing/test-ca.ts'
import { until } from '../../testing/until.ts'
import type { Certificate } from '../certificates.ts'
import { createTlsListener, tlsOptions } from './listener.ts'

const ca = createTestCa()
const certificate = (...hosts: string[]): Certificate => {
  const { cert, key } = ca.issue({ names: hosts })
  return { hosts, certPem: cert, keyPem: key, expiresAt: 0 }
}

const ended: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ended.splice(0)) await end()
})

/** Answers with the request body and, while it is being replaced, asks to close the connection. */
function listener(lingerMs = 60_000) {
  const { port } = freePort()
  const servers: Bun.Server<unknown>[] = []
  let stopped = 0
  const tls = createTlsListener({
    mainHost: 'main.test',
    lingerMs,
    gapMs: 1,
    open(options, isRetired) {
      const server = Bun.serve({
        port,
        hostname: '127.0.0.1',
        reusePort: true,
        tls: options,
        idleTimeout: 60,
        async fetch(request) {
          const body = await request.text()
          const headers = isRetired() ? { connection: 'close' } : undefined
          return new Response(`got ${body.length}`, headers === undefined ? {} : { headers })
        },
      })
      servers.push(server)
      const stop = server.stop.bind(server)
      return Object.assign(server, {
        stop: (isForced?: boolean) => {
          stopped += 1
          return stop(isForced)
        },
      })
    },
  })
  ended.push(() => tls.stop(true))
  return { tls, port, servers, stopped: () => stopped }
}

function freePort(): { port: number } {
  const probe = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const { port } = probe
  probe.stop(true)
  return { port }
}

function dial(port: number, servername?: string): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket: TLSSocket = connect(
      {
        host: '127.0.0.1',
        port,
        ca: ca.pem,
        checkServerIdentity: () => undefined,
        ...(servername === undefined ? {} : { servername }),
      },
      () => resolve(socket),
    )
    socket.once('error', reject)
  })
}

async function namesAt(port: number, servername?: string): Promise<string | undefined> {
  const socket = await dial(port, servername)
  const { subjectaltname } = socket.getPeerCertificate()
  socket.destroy()
  return subjectaltname
}

/** Writes, and reads until the body of the response is complete. Rejects if the connection ends before. */
function exchange(socket: TLSSocket, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let got = ''
    const done = (act: () => void) => {
      socket.off('data', onData)
      socket.off('close', onClose)
      act()
    }
    const onData = (bytes: Buffer) => {
      got += bytes.toString()
      if (/\r\n\r\ngot \d+$/.test(got)) done(() => resolve(got))
    }
    const onClose = () => done(() => reject(new Error(`closed after ${JSON.stringify(got)}`)))
    socket.on('data', onData)
    socket.on('close', onClose)
    socket.write(text)
  })
}

const post = (body: string) =>
  `POST / HTTP/1.1\r\nHost: main.test\r\nContent-Length: ${body.length}\r\n\r\n${body}`

const names: [asked: string | undefined, shown: string][] = [
  ['main.test', 'DNS:main.test'],
  ['MAIN.test', 'DNS:main.test'],
  ['www.example.test', 'DNS:www.example.test'],
  ['a.wild.test', 'DNS:*.wild.test'],
  ['a.b.wild.test', 'DNS:main.test'],
  ['stranger.test', 'DNS:main.test'],
  [undefined, 'DNS:main.test'],
]

test.each(names)('a client that asks for %s gets %s', async (asked, shown) => {
  const { tls, port } = listener()
  await tls.serve([certificate('www.example.test'), certificate('*.wild.test'), certificate('main.test')])
  expect(await namesAt(port, asked)).toBe(shown)
})

test('of two certificates for one name the first is used, and a wildcard covers the main host', () => {
  const first = certificate('*.main.example')
  const entries = tlsOptions(
    [certificate('a.test'), first, certificate('*.main.example')],
    'admin.main.example',
  )
  expect(entries.map(({ serverName }) => serverName)).toEqual(['*.main.example', 'a.test'])
  expect(entries[0]?.cert).toBe(first.certPem)
})

test('a new certificate is served to all new connections', async () => {
  const { tls, port } = listener()
  await tls.serve([certificate('main.test')])
  const renewed = [certificate('main.test', 'new.test')]
  for (let round = 0; round < 3; round += 1) {
    await tls.serve(renewed)
    expect(await namesAt(port, 'new.test')).toBe('DNS:main.test, DNS:new.test')
    await tls.serve([certificate('main.test')])
    expect(await namesAt(port, 'new.test')).toBe('DNS:main.test')
  }
})

test('of several changes during a change, only the last is applied', async () => {
  const { tls, port, servers } = listener()
  await tls.serve([certificate('main.test')])
  await Promise.all(['a.test', 'b.test', 'c.test'].map((name) => tls.serve([certificate(name)])))
  expect(await namesAt(port, 'main.test')).toBe('DNS:c.test')
  expect(servers).toHaveLength(2)
})

test('an unusable pair keeps the last one', async () => {
  const { tls, port } = listener()
  const good = certificate('main.test')
  await tls.serve([good])
  await expect(tls.serve([{ ...good, keyPem: certificate('x.test').keyPem }])).rejects.toThrow()
  expect(await namesAt(port, 'main.test')).toBe('DNS:main.test')
})

test('a kept connection gets its next response and is asked to close; a running request continues', async () => {
  const { tls, port } = listener()
  await tls.serve([certificate('main.test')])
  const [kept, busy] = await Promise.all([dial(port, 'main.test'), dial(port, 'main.test')])
  expect(await exchange(kept, post('x'))).not.toMatch(/^connection: close/im)
  busy.write(post('0123456789').slice(0, -5))
  await tls.serve([certificate('main.test')])
  expect(await exchange(kept, post('later'))).toMatch(/^connection: close/im)
  expect(await exchange(busy, '56789')).toContain('got 10')
})

test('changes under load lose no connection and no request', async () => {
  const { tls, port, stopped } = listener(500)
  await tls.serve([certificate('main.test')])
  let isOver = false
  let asked = 0
  const newEachTime = async () => {
    while (!isOver) {
      const socket = await dial(port, 'main.test')
      await exchange(socket, post('hello'))
      asked += 1
      socket.destroy()
    }
  }
  const keptAlive = async () => {
    let socket: TLSSocket | undefined
    while (!isOver) {
      socket ??= await dial(port, 'main.test')
      const answer = await exchange(socket, post('hello'))
      asked += 1
      if (/^connection: close/im.test(answer)) {
        socket.destroy()
        socket = undefined
      }
    }
    socket?.destroy()
  }
  const clients = [...Array(4).fill(newEachTime), ...Array(8).fill(keptAlive)].map(
    (run: () => Promise<void>) => run(),
  )
  for (let round = 1; round <= 6; round += 1) {
    const before = asked
    await tls.serve([certificate('main.test')])
    await until(
      '50 answers and the end of older listeners',
      () => asked >= before + 50 && stopped() >= round - 2,
    )
  }
  isOver = true
  await Promise.all(clients)
  expect(asked).toBeGreaterThan(300)
})

test('stopping waits for a running request on a replaced listener', async () => {
  const { tls, port } = listener()
  await tls.serve([certificate('main.test')])
  const busy = await dial(port, 'main.test')
  busy.write(post('0123456789').slice(0, -5))
  await tls.serve([certificate('main.test')])
  const stopped = tls.stop(false)
  expect(await exchange(busy, '56789')).toContain('got 10')
  await stopped
  await expect(dial(port, 'main.test')).rejects.toThrow()
})
