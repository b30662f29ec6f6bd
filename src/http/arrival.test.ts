import { expect, test } from 'bun:test'
import { parseCidrList } from '../domain/ip-ranges.ts'
import { Arrival, type Peer } from './arrival.ts'

const PROXY = '10.0.0.1'

const arrival = (url: string, headers: Record<string, string> = {}, trusted = ''): Arrival =>
  new Arrival({ trustProxy: parseCidrList(trusted) ?? [] }, new Request(url, { headers }), { address: PROXY })

test.each([
  ['http://a.example/', '/', '/', ''],
  ['http://a.example/docs/page?a=/b?c', '/docs/page', '/docs/page', '?a=/b?c'],
  ['http://a.example/docs?', '/docs', '/docs', '?'],
  ['http://a.example/docs?a#b?c', '/docs', '/docs', '?a'],
  ['http://a.example/docs#b?c', '/docs', '/docs', ''],
  ['http://a.example//x', '//x', '//x', ''],
  ['https://a.example:8443/%63af%C3%A9%2f', '/%63af%C3%A9%2f', '/café%2F', ''],
])('%s asks for the path %s, which stands for %s, and the query %p', (url, path, plain, search) => {
  const { path: sent, plain: decided, search: asked, target } = arrival(url)
  expect([sent, decided, asked, target]).toEqual([path, plain, search, `${path}${search}`])
})

test('behind a mount the path is that of the site, and the address stays whole', () => {
  const whole = arrival('http://admin.example/repo/a/b/alias/x/%70age?q')
  const below = whole.below('/repo/a/b/alias/x', whole.peer)
  expect([below.path, below.plain, below.search]).toEqual(['/%70age', '/page', '?q'])
  expect(below.target).toBe(whole.target)
})

const NAMED = { host: 'A.example:80', 'x-forwarded-host': 'b.example', 'x-forwarded-for': '192.0.2.1' }

test('a proxy that is not trusted says nothing about the visitor', () => {
  const { isBehindProxy, hostHeader, host, address } = arrival('http://a.example/', NAMED)
  expect([isBehindProxy, hostHeader, host, address]).toEqual([false, 'A.example:80', 'a.example', PROXY])
})

test('a trusted proxy names the host and the address of the visitor', () => {
  const { isBehindProxy, hostHeader, host, address } = arrival('http://a.example/', NAMED, '10.0.0.0/8')
  expect([isBehindProxy, hostHeader, host, address]).toEqual([true, 'b.example', 'b.example', '192.0.2.1'])
})

test('the address is only looked up for those who ask', () => {
  let lookedUp = 0
  const peer: Peer = {
    get address() {
      lookedUp++
      return PROXY
    },
  }
  const one = new Arrival({ trustProxy: [] }, new Request('http://a.example/x'), peer)
  void [one.path, one.plain, one.search, one.hostHeader, one.host, one.isBehindProxy]
  expect(lookedUp).toBe(0)
  expect([one.address, lookedUp]).toEqual([PROXY, 1])
})
