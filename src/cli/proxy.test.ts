import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { AddressInfo } from 'node:net'
import { connect, createServer, type Server } from 'node:net'
import { apiClient } from './api-client.ts'
import { CommandFailure } from './command.ts'
import { proxyFor } from './proxy.ts'

const P = 'http://proxy.test:3128'

test.each<[env: Record<string, string>, url: string, variable: string | undefined]>([
  [{}, 'https://a.test', undefined],
  [{ HTTPS_PROXY: P }, 'https://a.test', 'HTTPS_PROXY'],
  [{ HTTPS_PROXY: P }, 'http://a.test', undefined],
  [{ HTTP_PROXY: P }, 'http://a.test', 'HTTP_PROXY'],
  [{ https_proxy: P, HTTPS_PROXY: 'http://other.test' }, 'https://a.test', 'https_proxy'],
  [{ HTTPS_PROXY: ' ' }, 'https://a.test', undefined],
  [{ HTTPS_PROXY: P, NO_PROXY: 'b.test' }, 'https://a.test', 'HTTPS_PROXY'],
  [{ HTTPS_PROXY: P, NO_PROXY: 'b.test, A.test' }, 'https://a.test', undefined],
  [{ HTTPS_PROXY: P, NO_PROXY: '.test' }, 'https://a.test', undefined],
  [{ HTTPS_PROXY: P, NO_PROXY: '*.test' }, 'https://a.test', undefined],
  [{ HTTPS_PROXY: P, NO_PROXY: 'test' }, 'https://a.test', undefined],
  [{ HTTPS_PROXY: P, NO_PROXY: 'est' }, 'https://a.test', 'HTTPS_PROXY'],
  [{ HTTPS_PROXY: P, no_proxy: '*' }, 'https://a.test', undefined],
  [{ HTTPS_PROXY: P, NO_PROXY: 'a.test:443' }, 'https://a.test', undefined],
  [{ HTTPS_PROXY: P, NO_PROXY: 'a.test:8443' }, 'https://a.test', 'HTTPS_PROXY'],
  [{ HTTP_PROXY: P, NO_PROXY: '::1' }, 'http://[::1]:3000', undefined],
  [{ HTTP_PROXY: P, NO_PROXY: '[::1]:3000' }, 'http://[::1]:3000', undefined],
  [{ HTTP_PROXY: P, NO_PROXY: '127.0.0.1' }, 'http://127.0.0.1:3000', undefined],
])('%j for %s: %p', (env, url, variable) => {
  expect(proxyFor(url, env)?.variable).toBe(variable)
})

test('messages have the address without its password; a scheme may be left out', () => {
  expect(proxyFor('https://a.test', { HTTPS_PROXY: 'ann:secret@proxy.test:3128' })).toEqual({
    url: 'http://ann:secret@proxy.test:3128/',
    address: 'http://proxy.test:3128',
    variable: 'HTTPS_PROXY',
  })
})

test.each(['socks5://proxy.test:1080', 'http://', 'a b'])(
  '%s is no proxy that can be used',
  (HTTPS_PROXY) => {
    expect(() => proxyFor('https://a.test', { HTTPS_PROXY })).toThrow('HTTPS_PROXY is no address')
  },
)

/** Answers each first request with these bytes, or leads it on to another port. */
describe('through a proxy', () => {
  const servers: Server[] = []
  const listen = (server: Server) =>
    new Promise<number>((resolve) => {
      servers.push(server)
      server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
    })
  const answering = (answer: string) =>
    listen(createServer((socket) => socket.once('data', () => socket.end(answer))))
  const refusing = (status: string) => answering(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\n\r\n`)
  let api: Bun.Server<undefined>
  let forward = 0
  const seen: string[] = []
  beforeAll(async () => {
    api = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => Response.json({ ok: true }) })
    forward = await listen(
      createServer((socket) =>
        socket.once('data', (bytes) => {
          seen.push(String(bytes).split('\r\n')[0] ?? '')
          const there = connect(api.port ?? 0, '127.0.0.1')
          there.write(String(bytes).replace(/ http:\/\/[^/]+/, ' '))
          there.pipe(socket)
        }),
      ),
    )
  })
  afterAll(async () => {
    for (const server of servers) server.close()
    await api.stop(true)
  })

  const ask = async (apiUrl: string, env: Record<string, string>) => {
    try {
      return await apiClient({ apiUrl, apiKey: 'svc_k', env }).json('GET', '/api/x')
    } catch (error) {
      if (error instanceof CommandFailure) return error.message
      throw error
    }
  }

  test('a request arrives', async () => {
    expect(await ask('http://svc.test', { HTTP_PROXY: `http://127.0.0.1:${forward}` })).toEqual({ ok: true })
    expect(seen).toEqual(['GET http://svc.test/api/x HTTP/1.1'])
  })

  const failures: [what: string, scheme: 'http' | 'https', status: string | null, said: string][] = [
    [
      'is not reached',
      'https',
      null,
      'https://svc.test is not reached through the proxy http://127.0.0.1:PORT (HTTPS_PROXY): nothing listens there',
    ],
    [
      'is not reached',
      'http',
      null,
      'http://svc.test is not reached through the proxy http://127.0.0.1:PORT (HTTP_PROXY): nothing listens there',
    ],
    [
      'wants a password',
      'https',
      '407 Proxy Authentication Required',
      'the proxy http://127.0.0.1:PORT (HTTPS_PROXY) wants a password (407)',
    ],
    [
      'wants a password',
      'http',
      '407 Proxy Authentication Required',
      'the proxy http://127.0.0.1:PORT (HTTP_PROXY) wants a password (407)',
    ],
    [
      'refuses',
      'https',
      '403 Forbidden',
      'the proxy http://127.0.0.1:PORT (HTTPS_PROXY) refuses to lead to https://svc.test: 403 Forbidden',
    ],
    [
      'refuses',
      'http',
      '403 Forbidden',
      'the proxy http://127.0.0.1:PORT (HTTP_PROXY), or http://svc.test behind it, answered 403',
    ],
  ]
  test.each(failures)('one that %s is named, over %s (%p)', async (_what, scheme, status, said) => {
    const port = status === null ? 9 : await refusing(status)
    const message = await ask(`${scheme}://svc.test`, {
      [`${scheme.toUpperCase()}_PROXY`]: `http://ann:secret@127.0.0.1:${port}`,
    })
    expect(message).toStartWith(said.replace('PORT', String(port)))
    expect(message).not.toContain('secret')
  })
})
