import { createOperatorKey } from '../modules/api-keys/service.ts'
import { openListeners } from '../server/serve.ts'
import { ask } from './ask.ts'
import { type RawAnswer, sendRaw } from './raw-client.ts'
import { seedDeployment } from './seed.ts'
import { type TestApp, testApp } from './test-app.ts'

/** A server on a real port with a site whose `/api/form` stores a record, and a key that may do everything. */
export type ServedPipeline = {
  app: TestApp
  port: number
  host: string
  key: string
  projectId: string
  schemaId: string
  records(): Promise<number>
  /** The head of a request to the site's pipeline. */
  head(...lines: string[]): string
  send(...pieces: (string | Uint8Array | number)[]): Promise<RawAnswer>
  metric(name: string): Promise<number>
  close(): Promise<void>
}

export async function servedPipeline(env: Record<string, string> = {}): Promise<ServedPipeline> {
  const app = await testApp({ PORT: '0', HOST: '127.0.0.1', ...env })
  const files = { 'index.html': 'hi' }
  const seed = { owner: 'acme', repo: 'site', sha: 'a'.repeat(40), alias: 'production', files }
  const { projectId, aliasHost } = await seedDeployment(app, seed)
  const key = createOperatorKey(app.ctx, { name: 'all', repository: null })
  const fields = [{ name: 'x', type: 'string' }]
  const made = await ask(app, 'POST', '/api/schemas', { key, json: { projectId, name: 'notes', fields } })
  const schemaId = String(made.body['id'])
  const steps = [{ id: 'save', handlerType: 'data_create', config: { schemaId, fields: { x: 'input.x' } } }]
  const rule = { pathPattern: '/api/form', proxyType: 'pipeline', pipelineConfig: { steps } }
  await ask(app, 'POST', `/api/proxy-rules/project/${projectId}`, { key, json: rule })
  const listeners = await openListeners({ ...app, storage: null, certificates: null })
  const { port } = listeners
  const isTls = app.ctx.config.tls !== 'off'
  const host = aliasHost ?? ''
  return {
    app,
    port,
    host,
    key,
    projectId,
    schemaId,
    async records() {
      const { body } = await ask(app, 'GET', `/api/schemas/${schemaId}/records`, { key })
      return Number((body['pagination'] as Record<string, unknown>)['total'])
    },
    head: (...lines) => ['POST /api/form HTTP/1.1', `Host: ${host}`, ...lines, '', ''].join('\r\n'),
    send: (...pieces) => sendRaw({ port, isTls }, pieces),
    async metric(name) {
      const text = await (await app.call('GET', '/metrics')).text()
      return Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`${name} `))
          ?.slice(name.length + 1),
      )
    },
    async close() {
      await listeners.stop(true)
      app.close()
    },
  }
}
