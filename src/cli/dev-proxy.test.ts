import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { createTestCa } from '../testing/test-ca.ts'
import { startTwin, type Twin } from './dev.ts'
import { type TestIo, testIo } from './testing/test-io.ts'

/** What lies behind the rules of a folder that `svc dev` serves. */
let folder: string
let twin: Twin
let backend: Server
let io: TestIo
let answer: (request: IncomingMessage, response: ServerResponse) => void

beforeEach(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-dev-proxy-')))
  const ca = createTestCa()
  const caFile = join(folder, 'ca.pem')
  writeFileSync(caFile, ca.pem)
  backend = createServer(ca.issue({ names: ['localhost'] }), (request, response) => answer(request, response))
  await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve))
  const { port } = backend.address() as AddressInfo
  const rules = join(folder, 'site/.svc/proxy-rules/app')
  mkdirSync(join(rules, 'rules/app/[...path]'), { recursive: true })
  writeFileSync(join(folder, 'site/index.html'), '<h1>home</h1>')
  writeFileSync(join(rules, 'ruleset.yaml'), 'name: app\n')
  writeFileSync(
    join(rules, 'rules/app/[...path]/any.rule.yaml'),
    `targetUrl: https://localhost:${port}\nforwardCookies: true\nheaderConfig:\n  add:\n    x-service-key: ''\n    Authorization: ''\n`,
  )
  const env = {
    PROXY_ALLOWED_TARGETS: 'localhost',
    NODE_EXTRA_CA_CERTS: caFile,
    SVC_HEADER_X_SERVICE_KEY: 'sesame',
  }
  io = testIo({ cwd: folder, env })
  twin = await startTwin(join(folder, 'site'), io, { port: 0, hostname: '127.0.0.1' })
})
afterEach(async () => {
  await twin.close()
  backend.closeAllConnections()
  backend.close()
  rmSync(folder, { recursive: true })
})

const visit = { headers: { 'sec-fetch-dest': 'document' } }

test('a backend is told the host and the origin that stand in the browser', async () => {
  answer = ({ headers }, response) =>
    response.end(JSON.stringify([headers['x-forwarded-host'], headers.origin]))
  const { host, origin } = new URL(twin.url)
  const got = await fetch(`${twin.url}/app/x`, { method: 'POST', body: 'a=1', headers: { origin } })
  expect(await got.json()).toEqual([host, origin])
})

test('a backend gets the secret headers that the environment holds; another is named', async () => {
  answer = ({ headers }, response) =>
    response.end(JSON.stringify([headers['x-service-key'], headers.authorization]))
  expect(await (await fetch(`${twin.url}/app/x`)).json()).toEqual(['sesame', null])
  expect(io.err()).toBe(
    'warning: the header Authorization has no value here; SVC_HEADER_AUTHORIZATION gives it one\n',
  )
})

test('whoever is signed in writes from the page that is shown, and from no other', async () => {
  answer = (_, response) => response.end('ok')
  const body = new URLSearchParams({ email: 'ann@example.com', role: 'viewer' })
  const signedIn = await fetch(`${twin.url}/_dev/`, { method: 'POST', body, redirect: 'manual' })
  const cookie = signedIn.headers
    .getSetCookie()
    .map((one) => one.split(';')[0])
    .join('; ')
  const send = async (origin: string) =>
    (await fetch(`${twin.url}/app/x`, { method: 'POST', body: 'a=1', headers: { origin, cookie } })).status
  expect(await send(new URL(twin.url).origin)).toBe(200)
  expect(await send('http://evil.localhost')).toBe(403)
})

test('a page that a backend sends bit by bit still comes so, with the script at its end', async () => {
  let goOn: (() => void) | undefined
  answer = (_, response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=iso-8859-1' })
    response.write('<p>first')
    goOn = () => response.end(Buffer.from('caf\xe9', 'latin1'))
  }
  const reader = (await fetch(`${twin.url}/app/slow`, visit)).body?.getReader()
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('<p>first')
  goOn?.()
  let rest = ''
  for (let read = await reader?.read(); read?.done === false; read = await reader?.read())
    rest += Buffer.from(read.value).toString('latin1')
  expect(rest).toBe('caf\xe9\n<script src="/_dev/live.js"></script>\n')
})

test('a page that a backend compresses, asked or not, stays readable', async () => {
  answer = (_, response) => {
    response.writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' })
    response.end(gzipSync('<p>small'))
  }
  expect(await (await fetch(`${twin.url}/app/gzip`, visit)).text()).toBe('<p>small')
})
