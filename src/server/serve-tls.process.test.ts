import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { makeDataDir, runSvc, type ServerProcess, startServer } from '../testing/server-process.ts'
import type { TestCertificate } from '../testing/test-ca.ts'
import { certificateFolder } from '../testing/tls-process.ts'
import { until } from '../testing/until.ts'

/** The real program with its own certificates. */
const ADMIN = 'admin.sites.test'
const NAMES = [ADMIN, '*.sites.test', 'localhost']
const ROOT = { email: 'root@example.com', password: 'correct horse battery' }

const certificates = certificateFolder(NAMES)
const data = makeDataDir()
const others: ServerProcess[] = []
let pair: TestCertificate
let server: ServerProcess

beforeAll(async () => {
  pair = certificates.issue()
  certificates.write('main', pair)
  server = await startServer(data.path, {
    ...certificates.env('main'),
    BASE_DOMAIN: 'sites.test',
    ADMIN_EMAIL: ROOT.email,
    ADMIN_PASSWORD: ROOT.password,
  })
})
afterEach(async () => {
  for (const other of others.splice(0)) {
    other.signal('SIGKILL')
    await other.exited
  }
})
afterAll(async () => {
  server.signal('SIGKILL')
  await server.exited
  data.remove()
  certificates.remove()
})

const portOf = (url: string) => Number(new URL(url).port)

type Got = { status: number; headers: IncomingMessage['headers']; text: string }
type Sent = { method?: string; host?: string; headers?: Record<string, string>; body?: string }

/** Starts a request and returns how to finish it. Verifies the certificate for the host. */
function begin(path: string, { method = 'GET', host = ADMIN, headers = {} }: Sent, of = server) {
  const request = httpsRequest({
    host: '127.0.0.1',
    port: portOf(of.url),
    servername: host,
    ca: certificates.caPem,
    path,
    method,
    headers: { host: `${host}:${portOf(of.url)}`, ...headers },
    agent: false,
  })
  const got = new Promise<Got>((resolve, reject) => {
    request.on('error', reject)
    request.on('response', async (answer) => {
      const pieces: Buffer[] = []
      for await (const piece of answer) pieces.push(piece as Buffer)
      resolve({
        status: answer.statusCode ?? 0,
        headers: answer.headers,
        text: Buffer.concat(pieces).toString(),
      })
    })
  })
  return { request, got }
}

function send(path: string, sent: Sent = {}, of = server): Promise<Got> {
  const { request, got } = begin(path, sent, of)
  request.end(sent.body)
  return got
}

/** The serial number of the certificate shown to a new connection. */
function serialShown(of = server): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(
      { host: '127.0.0.1', port: portOf(of.url), servername: ADMIN, ca: certificates.caPem },
      () => {
        resolve(socket.getPeerCertificate().serialNumber)
        socket.destroy()
      },
    )
    socket.on('error', reject)
  })
}

test('links are https, session cookies are Secure, and only the admin host is pinned to https', async () => {
  expect(server.output()).toContain(`serves https://${ADMIN}:${portOf(server.url)}\n`)
  const signin = await send('/api/auth/signin', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      origin: `https://${ADMIN}:${portOf(server.url)}`,
    },
    body: JSON.stringify(ROOT),
  })
  expect(signin.status).toBe(200)
  const cookies = signin.headers['set-cookie'] ?? []
  expect(cookies).toHaveLength(2)
  for (const cookie of cookies) expect(cookie).toMatch(/; Secure(;|$)/)
  expect(signin.headers['strict-transport-security']).toBe('max-age=15768000')
  const page = await send('/', {
    headers: { cookie: cookies.map((one) => one.split(';')[0]).join('; '), accept: 'text/html' },
  })
  expect(page.status).toBe(200)
  expect(page.headers['strict-transport-security']).toBe('max-age=15768000')
  const nobody = await send('/', { host: 'nobody.sites.test' })
  expect(nobody.status).toBe(404)
  expect(nobody.headers['strict-transport-security']).toBeUndefined()
})

test('a write from the same host without TLS is still cross-origin', async () => {
  const signin = await send('/api/auth/signin', {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: 'https://evil.test', cookie: 'sAccessToken=x' },
    body: JSON.stringify(ROOT),
  })
  expect(signin.status).toBe(403)
})

test('the plain listener redirects to the port of the TLS listener', async () => {
  const answer = await fetch(`${server.plainUrl}/a?b=c`, {
    redirect: 'manual',
    headers: { host: ADMIN },
  })
  expect(answer.status).toBe(308)
  expect(answer.headers.get('location')).toBe(`https://${ADMIN}:${portOf(server.url)}/a?b=c`)
})

test('svc deploy and svc explain accept a certificate of a private CA', async () => {
  const key = (await runSvc(['key', 'create', 'test', '--data-dir', data.path])).stdout.trim()
  const site = mkdtempSync(join(tmpdir(), 'svc-site-'))
  writeFileSync(join(site, 'index.html'), '<h1>over TLS</h1>')
  const url = `https://localhost:${portOf(server.url)}`
  const env = { SVC_API_URL: url, SVC_API_KEY: key }
  const args = [
    'deploy',
    site,
    '--project',
    'acme/docs',
    '--sha',
    '1'.repeat(40),
    '--alias',
    'production',
    '--public',
  ]
  const deployed = await runSvc(args, { env: { ...env, NODE_EXTRA_CA_CERTS: certificates.caFile } })
  rmSync(site, { recursive: true })
  expect(deployed).toMatchObject({ code: 0 })
  const host = 'production--docs--acme.sites.test'
  expect(await send('/', { host })).toMatchObject({ status: 200, text: '<h1>over TLS</h1>' })
  const stranger = await runSvc(['explain', `https://${host}:${portOf(server.url)}/`], { env })
  expect(stranger.code).not.toBe(0)
  expect(stranger.stderr).toMatch(/certificate/i)
  const explained = await runSvc(['explain', `https://${host}:${portOf(server.url)}/`], {
    env: { ...env, NODE_EXTRA_CA_CERTS: certificates.caFile },
  })
  expect(explained).toMatchObject({ code: 0 })
  expect(explained.stdout).toContain('index.html')
}, 60_000)

test('svc health uses the plain listener, or TLS if there is none', async () => {
  const { hostname, port } = new URL(server.plainUrl)
  const flags = [
    'health',
    '--host',
    hostname,
    '--tls',
    'files',
    '--tls-cert-file',
    'x',
    '--tls-key-file',
    'x',
  ]
  const plain = await runSvc([...flags, '--http-port', port])
  expect(plain).toMatchObject({ code: 0, stdout: `http://127.0.0.1:${port} is well\n` })
  const tls = await runSvc([...flags, '--http-port', 'off', '--port', String(portOf(server.url))])
  expect(tls).toMatchObject({ code: 0, stdout: `https://127.0.0.1:${portOf(server.url)} is well\n` })
})

test('a renewed certificate is served after SIGHUP, and a running upload completes', async () => {
  const key = (await runSvc(['key', 'create', 'upload', '--data-dir', data.path])).stdout.trim()
  const fields = {
    owner: 'acme',
    repo: 'long',
    commitSha: '2'.repeat(40),
    alias: 'production',
    isPublic: 'true',
  }
  const parts = Object.entries(fields).map(
    ([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  const file =
    '--b\r\nContent-Disposition: form-data; name="file"; filename="index.html"\r\nContent-Type: text/html\r\n\r\n'
  const content = 'x'.repeat(300_000)
  const upload = begin('/api/deployments', {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'multipart/form-data; boundary=b' },
  })
  upload.request.write(`${parts.join('')}${file}${content.slice(0, 150_000)}`)

  const before = await serialShown()
  pair = certificates.issue()
  certificates.write('main', pair)
  server.signal('SIGHUP')
  await until('the new certificate', async () => (await serialShown()) !== before)
  upload.request.end(`${content.slice(150_000)}\r\n--b--\r\n`)
  const uploaded = await upload.got
  expect(uploaded.status).toBe(201)
  expect(uploaded.headers.connection).toBe('close')
  const shown = await send('/', { host: 'production--long--acme.sites.test' })
  expect(shown.text).toBe(content)
}, 60_000)

test('with a broken pair the previous one stays in use, and the log says so', async () => {
  const before = await serialShown()
  certificates.write('main', { ...pair, key: certificates.issue().key })
  server.signal('SIGHUP')
  await until('the line in the log', () => server.output().includes('the new certificate cannot be served'))
  expect(server.output()).toContain('TLS_KEY_FILE')
  expect(await serialShown()).toBe(before)
  certificates.write('main', pair)
})

test('SIGTERM lets a request over TLS finish, also on a replaced listener', async () => {
  const own = makeDataDir()
  certificates.write('term', pair)
  const other = await startServer(own.path, { ...certificates.env('term'), BASE_DOMAIN: 'sites.test' })
  others.push(other)
  const body = JSON.stringify(ROOT)
  const headers = { 'content-type': 'application/json', 'content-length': String(body.length) }
  const running = begin('/api/setup/complete', { method: 'POST', headers }, other)
  running.request.flushHeaders()
  const before = await serialShown(other)
  certificates.write('term', certificates.issue())
  other.signal('SIGHUP')
  await until('the new certificate', async () => (await serialShown(other)) !== before)
  other.signal('SIGTERM')
  await until('connections to be refused', () =>
    serialShown(other).then(
      () => false,
      () => true,
    ),
  )
  running.request.end(body)
  expect((await running.got).status).toBe(201)
  expect(await other.exited).toBe(0)
  own.remove()
}, 60_000)
