import { sendDue } from '../modules/webhooks/dispatch.ts'
import { ask } from './ask.ts'
import { type HookReceiver, hookReceiver, hookSettings } from './hook-receiver.ts'
import { type Seeded, seedDeployment } from './seed.ts'
import { type Outside, type TestApp, testApp } from './test-app.ts'

const ROOT = 'root@example.com'

/** An app with one project, a receiver, and hooks that are made and looked at as the global admin. */
export type HookApp = {
  app: TestApp
  receiver: HookReceiver
  site: Seeded
  /** Of the project, unless `path` names another place. Returns the record with its secret. */
  make(hook?: Record<string, unknown>, path?: string): Promise<Made>
  call(method: string, path: string, json?: unknown): ReturnType<typeof ask>
  deliveries(hook: Made): Promise<Delivery[]>
  /** A request of a visitor of the project's site, as the log sees it. */
  logRequest(request: { status: number; weight: number; path?: string }): void
  /** Sends all that is due. */
  send(): Promise<void>
  close(): Promise<void>
}

export type Made = { id: string; path: string; secret: string; [name: string]: unknown }
export type Delivery = {
  id: string
  event: string
  status: string
  nextTryAt: string | null
  tries: { at: string; status: number | null; durationMs: number; error: string | null; response: string }[]
}

export async function hookApp(env: Record<string, string> = {}, outside: Outside = {}): Promise<HookApp> {
  const settings = hookSettings()
  const app = await testApp({ ...settings.env, ...env }, outside)
  const receiver = await hookReceiver()
  await app.addUser(ROOT, 'admin')
  const site = await seedDeployment(app, {
    owner: 'acme',
    repo: 'docs',
    sha: 'a'.repeat(40),
    alias: 'production',
    files: { 'index.html': 'home' },
  })
  const call = (method: string, path: string, json?: unknown) =>
    ask(app, method, path, { as: ROOT, ...(json === undefined ? {} : { json }) })
  return {
    app,
    receiver,
    site,
    call,
    async make(hook = {}, path = `/api/projects/${site.projectId}/webhooks`) {
      const { status, body } = await call('POST', path, { url: receiver.url(), events: ['*'], ...hook })
      if (status !== 201) throw new Error(JSON.stringify(body))
      return { ...body, path: `${path}/${body['id']}` } as Made
    },
    async deliveries({ path }) {
      return (await call('GET', `${path}/deliveries?limit=100`)).body['data'] as Delivery[]
    },
    logRequest: ({ status, weight, path = '/broken' }) =>
      app.ctx.requestLog.take({
        at: app.ctx.now(),
        projectId: site.projectId,
        method: 'GET',
        host: 'docs.test',
        path,
        status,
        durationMs: 1,
        sizeBytes: 1,
        referrer: null,
        linkedFrom: null,
        userAgent: 'x',
        address: '203.0.113.1',
        isPage: false,
        weight,
      }),
    send: () => sendDue(app.ctx),
    async close() {
      app.close()
      await receiver.close()
      settings.remove()
    },
  }
}
