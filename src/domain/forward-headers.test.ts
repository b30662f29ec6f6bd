import { describe, expect, test } from 'bun:test'
import {
  type ForwardOptions,
  type HeaderConfig,
  type HeaderPair,
  requestHeadersToForward,
  responseHeadersToForward,
  withoutSessionCookies,
} from './forward-headers.ts'

const OPTIONS: ForwardOptions = {
  config: null,
  forwardCookies: false,
  preserveHost: false,
  peerAddress: '198.51.100.7',
  isTrustedPeer: false,
  trustedXff: null,
  proto: 'https',
  host: 'www.example.com',
}
const OWN_NAMES = ['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host']

function forwarded(headers: HeaderPair[], options: Partial<ForwardOptions> = {}): HeaderPair[] {
  return requestHeadersToForward(headers, { ...OPTIONS, ...options })
}

/** The part of one visitor header that the backend sees. */
function seen(header: HeaderPair, options: Partial<ForwardOptions> = {}): string | null {
  const [name, ...more] = forwarded([header], options).filter(([name]) => name === header[0].toLowerCase())
  expect(more).toEqual([])
  return name?.[1] ?? null
}

describe('requestHeadersToForward', () => {
  test.each<[name: string, value: string, passes: boolean]>([
    ['Accept', 'text/html', true],
    ['Accept-Encoding', 'gzip, br', true],
    ['Accept-Language', 'de', true],
    ['Content-Type', 'application/json', true],
    ['Content-Length', '12', true],
    ['User-Agent', 'curl/8', true],
    ['Range', 'bytes=0-1', true],
    ['If-None-Match', '"a"', true],
    ['Origin', 'https://www.example.com', true],
    ['Referer', 'https://www.example.com/a', true],
    ['X-Custom', '1', true],
    ['Cookie', 'theme=dark', false],
    ['Authorization', 'Bearer x', false],
    ['X-API-Key', 'svc_x', false],
    ['Host', 'www.example.com', false],
    ['Forwarded', 'for=1.2.3.4', false],
    ['Connection', 'close', false],
    ['Keep-Alive', 'timeout=5', false],
    ['Proxy-Authorization', 'Basic x', false],
    ['Proxy-Authenticate', 'Basic', false],
    ['Proxy-Connection', 'keep-alive', false],
    ['TE', 'trailers', false],
    ['Trailer', 'X-Sum', false],
    ['Transfer-Encoding', 'chunked', false],
    ['Upgrade', 'websocket', false],
    ['HTTP2-Settings', 'x', false],
    ['Expect', '100-continue', false],
    [':authority', 'www.example.com', false],
  ])('%s: %s passes without a headerConfig: %p', (name, value, passes) => {
    expect(seen([name, value])).toBe(passes ? value : null)
  })

  test('names are in lower case, and repeated headers stay separate', () => {
    const headers = forwarded([
      ['X-One', 'a'],
      ['X-One', 'b'],
    ])
    expect(headers.slice(0, 2)).toEqual([
      ['x-one', 'a'],
      ['x-one', 'b'],
    ])
  })

  test('headers named in Connection are not forwarded', () => {
    const headers = forwarded([
      ['Connection', 'close, X-Secret'],
      ['connection', 'x-other'],
      ['X-Secret', '1'],
      ['X-Other', '2'],
      ['X-Third', '3'],
    ])
    expect(headers.map(([name]) => name)).toEqual(['x-third', ...OWN_NAMES])
  })

  test('attack: Connection cannot remove headers that the service and the rule set', () => {
    const headers = forwarded([['Connection', 'x-forwarded-for, authorization']], {
      config: { add: { Authorization: 'Bearer secret' } },
    })
    expect(headers).toContainEqual(['x-forwarded-for', '198.51.100.7'])
    expect(headers).toContainEqual(['authorization', 'Bearer secret'])
  })

  const configured: [config: HeaderConfig, header: HeaderPair, expected: string | null][] = [
    [{}, ['accept', 'a'], 'a'],
    [{ add: { 'X-Key': 'mine' } }, ['x-key', 'theirs'], 'mine'],
    [{ add: { authorization: 'Bearer mine' } }, ['Authorization', 'Bearer theirs'], 'Bearer mine'],
    [{ add: { Cookie: 'a=1' } }, ['cookie', 'b=2'], 'a=1'],
    [{ add: { 'x-api-key': 'of the backend' } }, ['x-api-key', 'svc_x'], 'of the backend'],
    [{ add: { Connection: 'x' } }, ['x', '1'], '1'],
    [{ forward: ['accept'] }, ['Accept', 'a'], 'a'],
    [{ forward: ['ACCEPT'] }, ['accept', 'a'], 'a'],
    [{ forward: ['accept'] }, ['user-agent', 'b'], null],
    [{ forward: [] }, ['accept', 'a'], null],
    [{ forward: [] }, ['content-length', '7'], '7'],
    [{ forward: ['authorization'] }, ['Authorization', 'Bearer x'], 'Bearer x'],
    [{ forward: ['x-api-key'] }, ['x-api-key', 'svc_x'], null],
    [{ forward: ['authorization'] }, ['Authorization', 'Bearer svc_x'], null],
    [{ forward: ['authorization'] }, ['Authorization', 'bearer  svc_x'], null],
    [{ forward: ['Authorization'] }, ['authorization', 'Basic YTpi, BEARER svc_x'], null],
    [{ forward: ['authorization'] }, ['authorization', 'Bearer SVC_x'], 'Bearer SVC_x'],
    [{ forward: ['authorization'] }, ['authorization', 'Token svc_x'], 'Token svc_x'],
    [
      { add: { authorization: 'Bearer svc_of_another' } },
      ['authorization', 'Bearer svc_x'],
      'Bearer svc_of_another',
    ],
    [{ forward: ['cookie'] }, ['cookie', 'a=1'], null],
    [{ forward: ['connection', 'upgrade'] }, ['upgrade', 'websocket'], null],
    [{ forward: ['host'] }, ['host', 'www.example.com'], null],
    [{ forward: ['accept'], strip: ['accept'] }, ['accept', 'a'], null],
    [{ strip: ['User-Agent'] }, ['user-agent', 'b'], null],
    [{ strip: ['user-agent'] }, ['accept', 'a'], 'a'],
    [{ strip: ['x-key'], add: { 'x-key': 'mine' } }, ['x-key', 'theirs'], 'mine'],
  ]

  test.each(configured)('%j with %j: %p', (config, header, expected) => {
    expect(seen(header, { config })).toBe(expected)
  })

  test('add sets a header that the visitor did not send, but none that frames the message', () => {
    const add = { 'X-Key': 'k', 'Transfer-Encoding': 'chunked', 'Content-Length': '3', Connection: 'close' }
    const names = forwarded([['content-length', '5']], { config: { add } })
    expect(names.filter(([name]) => !OWN_NAMES.includes(name))).toEqual([
      ['content-length', '5'],
      ['x-key', 'k'],
    ])
  })

  const cookies: [
    forwardCookies: boolean,
    config: HeaderConfig | null,
    cookie: string,
    expected: string | null,
  ][] = [
    [false, null, 'a=1', null],
    [true, null, 'a=1; b=2', 'a=1; b=2'],
    [true, null, 'a=1; sAccessToken=x; b=2; sIdRefreshToken=y', 'a=1; b=2'],
    [true, null, 'sAccessToken=x', null],
    [true, null, 'sAccessToken=x;sIdRefreshToken=y', null],
    [true, { forward: ['cookie'] }, 'a=1; sAccessToken=x', 'a=1'],
    [true, { forward: ['accept'] }, 'a=1', null],
    [true, { strip: ['cookie'] }, 'a=1', null],
    [false, { forward: ['cookie'] }, 'a=1', null],
  ]

  test.each(cookies)('forwardCookies %p, %j: %s passes as %p', (forwardCookies, config, cookie, expected) => {
    expect(seen(['Cookie', cookie], { forwardCookies, config })).toBe(expected)
  })

  test('x-forwarded headers of the visitor are replaced', () => {
    const lies: HeaderPair[] = [
      ['X-Forwarded-For', '10.0.0.1'],
      ['x-forwarded-proto', 'http'],
      ['X-Forwarded-Host', 'evil.example'],
    ]
    expect(forwarded(lies)).toEqual([
      ['x-forwarded-for', '198.51.100.7'],
      ['x-forwarded-proto', 'https'],
      ['x-forwarded-host', 'www.example.com'],
    ])
  })

  test('attack: a name that backends read as one of ours or the rule’s is not forwarded', () => {
    const headers: HeaderPair[] = [
      ['X_Forwarded_For', '1.2.3.4'],
      ['x.forwarded-proto', 'https'],
      ['X_Api_Key', 'svc_x'],
      ['x_secret', 'mine'],
      ['x_user', 'admin'],
      ['x_other', 'passes'],
    ]
    const passed = forwarded(headers, { config: { add: { 'X-Secret': 's' }, strip: ['X-User'] } })
    expect(passed.map(([name]) => name)).toEqual(['x_other', ...OWN_NAMES, 'x-secret'])
  })

  test('x-forwarded-for of a trusted peer is appended to', () => {
    const headers = forwarded([['X-Forwarded-For', '203.0.113.9']], { trustedXff: '203.0.113.9' })
    expect(headers[0]).toEqual(['x-forwarded-for', '203.0.113.9, 198.51.100.7'])
  })

  test.each<[preserveHost: boolean, config: HeaderConfig | null, expected: string[]]>([
    [false, null, []],
    [true, null, ['www.example.com']],
    [false, { add: { Host: 'inner.example' } }, ['inner.example']],
    [true, { add: { Host: 'inner.example' } }, ['inner.example']],
  ])('preserveHost %p with %j sends the Host %j', (preserveHost, config, expected) => {
    const headers = forwarded([['Host', 'www.example.com']], { preserveHost, config })
    expect(headers.filter(([name]) => name === 'host').map(([, value]) => value)).toEqual(expected)
  })
})

test.each([
  ['', ''],
  ['a=1', 'a=1'],
  ['a=1;b=2 ;; c=3', 'a=1; b=2; c=3'],
  ['sAccessToken=x', ''],
  ['  sAccessToken = x ; a=1', 'a=1'],
  ['SACCESSTOKEN=x; a=1', 'a=1'],
  ['=sAccessToken=x; a=1', 'a=1'],
  ['sAccessToken; a=1', 'a=1'],
  ['b=2, sIdRefreshToken=y; a=1', 'a=1'],
  ['b=2,3; a=1', 'b=2,3; a=1'],
  ['mysAccessToken=x; sAccessTokens=y', 'mysAccessToken=x; sAccessTokens=y'],
  ['a=sAccessToken=x', 'a=sAccessToken=x'],
  ['__svc_variant=blue', '__svc_variant=blue'],
  ['__Host-svcBrowser=x; __Host-svcOidc=y; svcBrowser=z; svcOidc=w; a=1', 'a=1'],
  ['svc_device=x; a=1; SVC_DEVICE=y', 'a=1'],
  ['__Host-mine=1; svcBrowsers=2', '__Host-mine=1; svcBrowsers=2'],
])('from the cookies %p these are forwarded: %p', (header, expected) => {
  expect(withoutSessionCookies(header)).toBe(expected)
})

describe('responseHeadersToForward', () => {
  test('hop-by-hop headers and those named in Connection are not forwarded', () => {
    const headers: HeaderPair[] = [
      ['Content-Type', 'text/html'],
      ['Content-Encoding', 'gzip'],
      ['Content-Length', '7'],
      ['Connection', 'keep-alive, X-Internal'],
      ['X-Internal', '1'],
      ['Keep-Alive', 'timeout=5'],
      ['Transfer-Encoding', 'chunked'],
      ['Trailer', 'X-Sum'],
      ['Upgrade', 'h2c'],
      ['Proxy-Authenticate', 'Basic'],
      ['WWW-Authenticate', 'Basic'],
      ['Location', '/elsewhere'],
    ]
    expect(responseHeadersToForward(headers).map(([name]) => name)).toEqual([
      'content-type',
      'content-encoding',
      'content-length',
      'www-authenticate',
      'location',
    ])
  })

  const setCookies: [setCookie: string, expected: string | null][] = [
    ['a=1', 'a=1'],
    ['a=1; Path=/; HttpOnly; SameSite=Lax', 'a=1; Path=/; HttpOnly; SameSite=Lax'],
    ['a=1; Domain=.example.com; Path=/', 'a=1; Path=/'],
    ['a=1;domain=example.com', 'a=1'],
    ['a=1; DOMAIN = x; Domain; Domain=y; Secure', 'a=1; Secure'],
    ['a=Domain=x; Path=/domain=y', 'a=Domain=x; Path=/domain=y'],
    ['a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT', 'a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT'],
    ['sAccessToken=evil; Path=/', null],
    ['sIdRefreshToken=evil', null],
    [' sAccessToken =evil', null],
    ['saccesstoken=evil', null],
    ['=sAccessToken=evil', null],
    ['sAccessToken', null],
    ['sAccessTokens=1', 'sAccessTokens=1'],
    ['__svc_variant=blue', '__svc_variant=blue'],
  ]

  test.each(setCookies)('Set-Cookie: %s becomes %p', (setCookie, expected) => {
    const headers = responseHeadersToForward([['Set-Cookie', setCookie]])
    expect(headers).toEqual(expected === null ? [] : [['set-cookie', expected]])
  })

  test('repeated Set-Cookie headers stay separate', () => {
    const headers: HeaderPair[] = [
      ['Set-Cookie', 'a=1; Domain=x'],
      ['Set-Cookie', 'sAccessToken=evil'],
      ['Set-Cookie', 'b=2'],
    ]
    expect(responseHeadersToForward(headers)).toEqual([
      ['set-cookie', 'a=1'],
      ['set-cookie', 'b=2'],
    ])
  })
})

test.each(['X-Accel-Redirect', 'X-Accel-Expires', 'x-sendfile', 'X-LIGHTTPD-send-file', 'X-Reproxy-URL'])(
  '%s from a site does not reach the proxy in front',
  (name) => {
    const headers: HeaderPair[] = [
      [name, '/internal/secret'],
      ['X-Accel-Buffering', 'no'],
    ]
    expect(responseHeadersToForward(headers)).toEqual([['x-accel-buffering', 'no']])
  },
)

const cleared: [sent: string, passed: string | null][] = [
  ['"cookies"', null],
  ['"cache", "cookies","storage"', '"cache", "storage"'],
  ['"*"', '"cache", "storage"'],
  ['"cache", "*"', '"cache", "storage"'],
  ['"storage"', '"storage"'],
]
test.each(cleared)('a backend that clears %p does not sign anybody out: %p', (sent, passed) => {
  const headers = responseHeadersToForward([['Clear-Site-Data', sent]])
  expect(headers).toEqual(passed === null ? [] : [['clear-site-data', passed]])
})
