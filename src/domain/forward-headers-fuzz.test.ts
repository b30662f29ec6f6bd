import { expect, test } from 'bun:test'
import { requestHeadersToForward, responseHeadersToForward } from './forward-headers.ts'

/** A small seeded generator, so that a failure can be reproduced. */
function generator(seed: number) {
  let state = seed
  const below = (limit: number): number => {
    state = (state * 1103515245 + 12345) % 2147483648
    return Math.floor((state / 2147483648) * limit)
  }
  const one = <T>(items: readonly T[]): T => items[below(items.length)] as T
  const some = <T>(items: readonly T[], max: number): T[] =>
    Array.from({ length: below(max + 1) }, () => one(items))
  return { below, one, some }
}

const names = [
  'cookie',
  'Cookie',
  'COOKIE',
  'authorization',
  'x-api-key',
  'X-API-Key',
  'connection',
  'te',
  'upgrade',
  'forwarded',
  'host',
  'accept',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-a',
  'keep-alive',
  'transfer-encoding',
  'proxy-authorization',
  'content-length',
]
const cookies = [
  'sAccessToken=TOKEN',
  'sIdRefreshToken=TOKEN',
  ' saccesstoken = TOKEN',
  '=sAccessToken=TOKEN',
  'a=1',
  'a=1,sAccessToken=TOKEN',
  'sAccessToken',
  ';',
  'b="sAccessToken=TOKEN"',
]
const values = ['x', 'close, x-a', 'cookie', 'TOKENLESS', 'gzip', 'for=6.6.6.6', '']

test('no visitor headers or rule let a session, a key, a hop-by-hop header or a false address pass', () => {
  const { below, one, some } = generator(20261120)
  for (let round = 0; round < 20_000; round++) {
    const visitor = some(names, 8).map((name): [string, string] => {
      if (/^cookie$/i.test(name)) return [name, some(cookies, 4).join(one([';', '; ', ' ;']))]
      return [name, /api-key/i.test(name) ? 'KEY' : one(values)]
    })
    const config =
      below(3) === 0
        ? null
        : {
            forward: below(2) === 0 ? undefined : some(names, 6),
            strip: some(names, 2),
            add: below(2) === 0 ? undefined : { 'x-added': 'yes' },
          }
    const options = {
      config,
      forwardCookies: below(2) === 0,
      preserveHost: below(2) === 0,
      peerAddress: '192.0.2.1',
      isTrustedPeer: false,
      trustedXff: null,
      proto: 'https',
      host: 'site.test',
    } as const
    const passed = requestHeadersToForward(visitor, options)
    const shown = JSON.stringify({ round, visitor, options, passed })
    for (const [name, value] of passed) {
      expect([shown, name]).toEqual([shown, name.toLowerCase()])
      expect([
        shown,
        [
          'connection',
          'te',
          'upgrade',
          'keep-alive',
          'transfer-encoding',
          'proxy-authorization',
          'forwarded',
          'x-api-key',
        ].includes(name),
      ]).toEqual([shown, false])
      expect([shown, value.includes('KEY')]).toEqual([shown, false])
      if (name === 'cookie')
        expect([
          shown,
          /(^|[;,\s=])s(access|idrefresh)token\s*=/i.test(value.replace(/"[^"]*"/g, '')),
        ]).toEqual([shown, false])
    }
    const said = passed.filter(([name]) => name.startsWith('x-forwarded-'))
    expect([shown, said]).toEqual([
      shown,
      [
        ['x-forwarded-for', '192.0.2.1'],
        ['x-forwarded-proto', 'https'],
        ['x-forwarded-host', 'site.test'],
      ],
    ])
  }
})

test('no backend headers set one of our cookies or a cookie for other hosts, or pass a hop-by-hop header', () => {
  const { one, some } = generator(7)
  const attributes = ['Domain=sites.test', 'domain = .sites.test', 'DOMAIN', 'Path=/', 'HttpOnly', 'Domain=']
  for (let round = 0; round < 20_000; round++) {
    const sent = some(['set-cookie', 'Set-Cookie', 'connection', 'x-a', 'upgrade'], 6).map(
      (name): [string, string] =>
        /set-cookie/i.test(name)
          ? [name, [one(cookies), ...some(attributes, 4)].join('; ')]
          : [name, one(values)],
    )
    const passed = responseHeadersToForward(sent)
    const shown = JSON.stringify({ round, sent, passed })
    for (const [name, value] of passed) {
      expect([shown, name === 'connection' || name === 'upgrade']).toEqual([shown, false])
      if (name !== 'set-cookie') continue
      expect([shown, /;\s*domain\s*(=|;|$)/i.test(value)]).toEqual([shown, false])
      expect([shown, /^[\s=]*s(access|idrefresh)token\s*(=|;|$)/i.test(value)]).toEqual([shown, false])
    }
  }
})
