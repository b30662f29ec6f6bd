import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createOperatorKey } from '../modules/api-keys/service.ts'
import type { PipelineStep } from '../pipelines/language/model.ts'
import { seedDeployment } from '../testing/seed.ts'
import { type TestApp, testApp } from '../testing/test-app.ts'

let app: TestApp
let host: string

beforeAll(async () => {
  app = await testApp()
  const files = { 'index.html': 'hi' }
  const seed = { owner: 'acme', repo: 'slow', sha: 'a'.repeat(40), alias: 'production', files }
  const site = await seedDeployment(app, seed)
  host = site.aliasHost ?? ''
  const key = createOperatorKey(app.ctx, { name: 'ci', repository: 'acme/slow' })
  const form = { id: 'form', handlerType: 'form_handler', config: { fields: { n: { type: 'integer' } } } }
  const rule = (pathPattern: string, steps: PipelineStep[]) => ({
    pathPattern,
    proxyType: 'pipeline',
    pipelineConfig: { steps },
  })
  const fail = { id: 'no', handlerType: 'function_handler', config: { code: 'const handler = () => no' } }
  const json = { ruleSet: { name: 's' }, rules: [rule('/api/form', [form]), rule('/api/fail', [form, fail])] }
  const path = `/api/proxy-rule-sets/project/${site.projectId}/sync`
  expect((await app.call('PUT', path, { key, json })).status).toBe(200)
})
afterAll(() => app.close())

/** How the connection's idle timeout changed between the chunks of the body and the response. */
async function visit(path: string, pieces: string[]) {
  const heard: string[] = []
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = pieces.shift()
      if (piece === undefined) return controller.close()
      heard.push('piece')
      controller.enqueue(new TextEncoder().encode(piece))
    },
  })
  const headers = { host, 'content-type': 'application/json' }
  const request = new Request(`http://${host}${path}`, { method: 'POST', headers, body })
  const allowSilence = (isAllowed: boolean) => void heard.push(isAllowed ? 'silence' : 'no silence')
  const answer = await app.app.fetch(request, { address: '127.0.0.1', allowSilence })
  return { status: answer.status, heard }
}

test('a connection may be silent while the steps run, but not while the body arrives', async () => {
  expect(await visit('/api/form', ['{"n"', ':1}'])).toEqual({
    status: 200,
    heard: ['piece', 'piece', 'silence', 'no silence'],
  })
})

test('a failure also ends the silence', async () => {
  expect(await visit('/api/fail', ['{}'])).toEqual({ status: 500, heard: ['piece', 'silence', 'no silence'] })
  expect(await visit('/api/form', ['{"n":"x"}'])).toMatchObject({ status: 400 })
})
