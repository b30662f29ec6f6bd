import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Listeners } from '../server/listeners.ts'
import { openListeners } from '../server/serve.ts'
import { ask } from './ask.ts'
import { SEED_OWNER, type Seeded, seedDeployment } from './seed.ts'
import { type Outside, type TestApp, testApp } from './test-app.ts'
import { createTestCa, type TestCertificate } from './test-ca.ts'

export const BACKEND = 'backend.test'

type Sent = {
  method?: string
  headers?: Record<string, string | string[]>
  body?: string | Uint8Array
  host?: string
}
type Got = {
  status: number
  headers: IncomingHttpHeaders
  rawHeaders: string[]
  text: string
  isWhole: boolean
}

/** A listening server with a site whose rules may reach `backend.test`: this machine, over TLS. */
export type ProxyFixture = {
  app: TestApp
  site: Seeded & { aliasId: string; aliasHost: string }
  port: number
  listeners: Listeners
  certificate: TestCertificate
  /** Adds a rule to the site's project (or alias). */
  rule(json: Record<string, unknown>, onAlias?: boolean): Promise<string>
  /** Sends the path unchanged, over a socket. `isWhole`: the response ended properly. */
  send(path: string, sent?: Sent): Promise<Got>
  close(): Promise<void>
}

export async function proxyFixture(
  env: Record<string, string> = {},
  outside: Outside = {},
  files: Record<string, string> = { 'index.html': '<h1>home</h1>' },
): Promise<ProxyFixture> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-proxy-'))
  const ca = createTestCa()
  writeFileSync(join(folder, 'ca.pem'), ca.pem)
  const app = await testApp(
    {
      BASE_DOMAIN: 'sites.test',
      ADMIN_HOST: 'admin.sites.test',
      PORT: '0',
      HOST: '127.0.0.1',
      PROXY_ALLOWED_TARGETS: `${BACKEND},stranger.test`,
      NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'),
      ...env,
    },
    outside,
  )
  const seeded = await seedDeployment(app, {
    owner: 'acme',
    repo: 'docs',
    sha: '1'.repeat(40),
    alias: 'production',
    files,
  })
  const site = { ...seeded, aliasId: seeded.aliasId ?? '', aliasHost: seeded.aliasHost ?? '' }
  const listeners = await openListeners({ ...app, storage: null, certificates: null })
  const { port } = listeners
  return {
    app,
    site,
    port,
    listeners,
    certificate: ca.issue({ names: [BACKEND] }),
    async rule(json, onAlias = false) {
      const level = onAlias ? `alias/${site.aliasId}` : `project/${site.projectId}`
      const made = await ask(app, 'POST', `/api/proxy-rules/${level}`, { as: SEED_OWNER, json })
      if (made.status !== 201) throw new Error(`The rule was rejected: ${JSON.stringify(made.body)}`)
      return String(made.body['id'])
    },
    send: (path, sent = {}) => send(port, path, { host: site.aliasHost, ...sent }),
    async close() {
      await listeners.stop(true)
      app.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function send(
  port: number,
  path: string,
  { method = 'GET', headers = {}, body, host = '' }: Sent,
): Promise<Got> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      {
        host: '127.0.0.1',
        port,
        path,
        method,
        headers: { host, connection: 'close', ...headers },
        agent: false,
      },
      (answer) => {
        request.off('error', reject)
        request.on('error', () => done(false))
        const pieces: Buffer[] = []
        const done = (isWhole: boolean) =>
          resolve({
            status: answer.statusCode ?? 0,
            headers: answer.headers,
            rawHeaders: answer.rawHeaders,
            text: Buffer.concat(pieces).toString('latin1'),
            isWhole,
          })
        answer.on('data', (bytes: Buffer) => pieces.push(bytes))
        answer.on('end', () => done(answer.complete))
        answer.on('error', () => done(false))
      },
    )
    request.on('error', reject)
    request.end(body)
  })
}
