import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { BACKEND, type ProxyFixture, proxyFixture } from '../testing/proxy-fixture.ts'
import { createTestCa } from '../testing/test-ca.ts'
import { answer, onRequest, type RawBackend, rawTlsBackend } from '../testing/tls-backend.ts'
import { startTwin, type Twin } from './dev.ts'
import { testIo } from './testing/test-io.ts'

/** What a visitor says about himself, sent each way to a backend that would believe us. contract 12.5. */

let fixture: ProxyFixture
let trusting: ProxyFixture
let backends: RawBackend[] = []
let folder: string
let twin: Twin

/** Answers with the names and values that it was sent. */
const echo = (certificate: ProxyFixture['certificate']) =>
  rawTlsBackend(certificate, (socket) =>
    onRequest(socket, (head) => answer(socket, head.split('\r\n').slice(1).join('\n'))),
  )

beforeAll(async () => {
  fixture = await proxyFixture()
  trusting = await proxyFixture({ TRUST_PROXY: '127.0.0.1/32' })
  const ca = createTestCa()
  backends = [
    await echo(fixture.certificate),
    await echo(trusting.certificate),
    await echo(ca.issue({ names: ['localhost'] })),
  ]
  for (const [index, { rule }] of [fixture, trusting].entries()) {
    const targetUrl = `https://${BACKEND}:${backends[index]?.port}`
    await rule({ pathPattern: '/plain/*', targetUrl })
    await rule({ pathPattern: '/set/*', targetUrl, headerConfig: CONFIG })
    await rule({ pathPattern: '/shown', proxyType: 'pipeline', pipelineConfig: { steps: [SHOWN] } })
  }
  folder = mkdtempSync(join(tmpdir(), 'svc-claims-'))
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  write('ca.pem', ca.pem)
  write('site/index.html', '<h1>home</h1>')
  write('site/.svc/proxy-rules/app/ruleset.yaml', 'name: app\n')
  write(
    'site/.svc/proxy-rules/app/rules/plain/[...path]/any.rule.yaml',
    `targetUrl: https://localhost:${backends[2]?.port}\n`,
  )
  const env = { PROXY_ALLOWED_TARGETS: 'localhost', NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') }
  twin = await startTwin(join(folder, 'site'), testIo({ cwd: folder, env }), {
    port: 0,
    hostname: '127.0.0.1',
  })
})
afterAll(async () => {
  await twin.close()
  for (const backend of backends) await backend.close()
  await fixture.close()
  await trusting.close()
  rmSync(folder, { recursive: true })
})

const SHOWN = {
  id: 'shown',
  handlerType: 'response_handler',
  config: { body: { headers: 'request.headers' } },
}
const CONFIG = {
  add: { 'X-Given': 'ours' },
  strip: ['x-private'],
  forward: ['x-real-ip', 'x_given', 'x-given', 'x_private', 'x-ok'],
}

const WAYS = {
  'a proxied request': (headers: string[]) => sent(fixture.port, fixture.site.aliasHost, '/plain/x', headers),
  'a WebSocket': (headers: string[]) =>
    sent(fixture.port, fixture.site.aliasHost, '/plain/x', [...headers, ...UPGRADE]),
  'a pipeline': (headers: string[]) => sent(fixture.port, fixture.site.aliasHost, '/shown', headers),
  'svc dev': (headers: string[]) =>
    sent(Number(new URL(twin.url).port), new URL(twin.url).host, '/plain/x', headers),
}
const UPGRADE = [
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
]

/** What comes back to the header fields, byte for byte as written. */
function sent(port: number, host: string, path: string, headers: string[]): Promise<string> {
  const connection = headers.includes(UPGRADE[0] ?? '') ? 'Upgrade' : 'close'
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    socket.setEncoding('latin1')
    socket.on('data', (bytes) => {
      text += bytes
      const end = text.indexOf('\r\n\r\n')
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? Number.NaN)
      if (end !== -1 && text.length >= end + 4 + length) socket.end(() => resolve(text.slice(end + 4)))
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(text.slice(text.indexOf('\r\n\r\n') + 4)))
    socket.write(
      [`GET ${path} HTTP/1.1`, `Host: ${host}`, `Connection: ${connection}`, ...headers, '', ''].join('\r\n'),
    )
  })
}

/** Names as people and programs write them, of every kind in the contract. */
const CLAIMS = [
  'Forwarded',
  'Forwarded-For',
  'X-Forwarded',
  'X-Forwarded-Prefix',
  'X-Forwarded-Server',
  'X-Forwarded-User',
  'X_Forwarded_For',
  'X_Forwarded-Host',
  'X.Forwarded.Proto',
  'X-Forwarded~For',
  'X-Real-IP',
  'X_Real_IP',
  'Client-IP',
  'X-Client-IP',
  'True-Client-IP',
  'X-Cluster-Client-IP',
  'X-Remote-IP',
  'X-Remote-Addr',
  'Remote-Addr',
  'X-Originating-IP',
  'X-Original-URL',
  'X-Original-Host',
  'X-Original-Forwarded-For',
  'X-Rewrite-URL',
  'X-Host',
  'X-HTTP-Host-Override',
  'X-URL-Scheme',
  'X-Scheme',
  'X-Script-Name',
  'Front-End-Https',
  'X-ARR-SSL',
  'Proxy',
  'Proxy-Client-IP',
  'WL-Proxy-Client-IP',
  'WL-Proxy-SSL',
  'CF-Connecting-IP',
  'CF-Connecting-IPv6',
  'CF-IPCountry',
  'CF-Visitor',
  'CF-Pseudo-IPv4',
  'Fastly-Client-IP',
  'Fly-Client-IP',
  'X-Azure-ClientIP',
  'X-Azure-SocketIP',
  'X-AppEngine-User-IP',
  'X-Envoy-External-Address',
  'Client-Cert',
  'Client-Cert-Chain',
  'X-Client-Cert',
  'X-Client-Cert-DN',
  'SSL-Client-Verify',
  'SSL_CLIENT_S_DN',
  'X-SSL-Client-Cert',
  'X-Remote-User',
  'X-WebAuth-User',
  'X-Auth-Request-Email',
  'X-authentik-username',
  'Cf-Access-Jwt-Assertion',
  'X-MS-CLIENT-PRINCIPAL',
  'X-MS-CLIENT-PRINCIPAL-ID',
  'X-Goog-Authenticated-User-Email',
  'X-Goog-IAP-JWT-Assertion',
  'X-Amzn-Oidc-Data',
  'Tailscale-User-Login',
]
const FROM_NOBODY = ['Remote-User', 'Remote-Email', 'REMOTE_USER', 'X-Svc-Identity', 'X_Svc_Identity']
const TWINS = [
  'content_length',
  'content_type',
  'transfer_encoding',
  'x_api_key',
  'Cookie_',
  'authorization_',
  'Host.',
  'Connection_',
]

describe.each(Object.entries(WAYS))('%s', (_way, send) => {
  test.each([...CLAIMS, ...FROM_NOBODY, ...TWINS])('does not carry %s', async (name) => {
    const got = await send([`${name}: 6.6.6.6`, 'X-Ok: 7.7.7.7'])
    expect(got).toContain('7.7.7.7')
    expect(got).not.toContain('6.6.6.6')
  })
})

test('forward brings no claim back; what the rule sets or strips comes in no other spelling', async () => {
  const got = await sent(fixture.port, fixture.site.aliasHost, '/set/x', [
    'X-Real-IP: 6.6.6.6',
    'X_Given: 6.6.6.6',
    'X.Given: 6.6.6.6',
    'X_Private: 6.6.6.6',
    'X-Ok: 7.7.7.7',
  ])
  expect(got).toContain('x-ok: 7.7.7.7')
  expect(got).toContain('x-given: ours')
  expect(got).not.toContain('6.6.6.6')
})

describe('from a peer in TRUST_PROXY', () => {
  const passes = async (path: string, name: string) =>
    (await sent(trusting.port, trusting.site.aliasHost, path, [`${name}: 6.6.6.6`])).includes('6.6.6.6')

  test.each(['/plain/x', '/shown'])('%s carries claims as they came', async (path) => {
    for (const name of ['X-Real-IP', 'CF-Connecting-IP', 'X-Forwarded-Prefix', 'X-Remote-User'])
      expect([name, await passes(path, name)]).toEqual([name, true])
  })

  test.each(['/plain/x', '/shown'])('%s does not carry what svc says itself', async (path) => {
    for (const name of [
      'Forwarded',
      'X-Forwarded-Proto',
      'X_Forwarded_For',
      'x_forwarded_host',
      ...FROM_NOBODY,
    ])
      expect([name, await passes(path, name)]).toEqual([name, false])
  })
})
