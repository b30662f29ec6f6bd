import { createOperatorKey } from '../modules/api-keys/service.ts'
import { clockOf } from '../modules/schedules/clock.ts'
import { scheduleDuty } from '../modules/schedules/duty.ts'
import type { ScheduleView } from '../modules/schedules/model.ts'
import { performer } from '../server/perform-schedules.ts'
import { ask } from './ask.ts'
import { seedDeployment } from './seed.ts'
import { type TestApp, type TestStorage, testApp } from './test-app.ts'

type Body = Record<string, unknown>

/** A site whose rule `POST /api/refresh` stores a record `notes` with what it knows of its schedule. */
export type ScheduleApp = {
  app: TestApp
  key: string
  projectId: string
  ruleId: string
  call(method: string, path: string, json?: unknown): Promise<{ status: number; body: Body }>
  /** Below the schedules of the project. */
  schedules(method: string, path?: string, json?: unknown): Promise<{ status: number; body: Body }>
  make(json: Body): Promise<ScheduleView>
  get(id: string): Promise<ScheduleView>
  push(json: Body, status?: number): Promise<Body>
  addRule(rule: Body): Promise<string>
  /** The stored records, oldest first. */
  notes(): Promise<Body[]>
  runs(): Promise<Body[]>
  /** Turns the clock, fires what is due, and waits until it has run. */
  turn(ms: number): Promise<void>
  close(): void
}

/** Stores `request.schedule`, and what else a run has that no visitor asked for. */
export const NOTE_STEPS = [
  {
    id: 'save',
    handlerType: 'data_create',
    config: {
      schemaId: '$schema:notes',
      fields: {
        schedule: 'request.schedule.name',
        firedAt: 'request.schedule.firedAt',
        body: 'input.scheduleName',
        alias: 'deployment.alias',
      },
    },
  },
]

export async function scheduleApp(
  env: Record<string, string> = {},
  storage?: TestStorage,
): Promise<ScheduleApp> {
  const app = await testApp(env, {}, storage)
  const files = { 'index.html': 'hi' }
  const seed = { owner: 'acme', repo: 'site', sha: 'a'.repeat(40), alias: 'production', files }
  const { projectId } = await seedDeployment(app, seed)
  const key = createOperatorKey(app.ctx, { name: 'all', repository: null })
  const call: ScheduleApp['call'] = async (method, path, json) => {
    const answer = await app.call(method, path, { key, ...(json === undefined ? {} : { json }) })
    const text = await answer.text()
    return { status: answer.status, body: text === '' ? {} : (JSON.parse(text) as Body) }
  }
  const schedules: ScheduleApp['schedules'] = (method, path = '', json) =>
    call(method, `/api/projects/${projectId}/schedules${path}`, json)
  const fields = ['schedule', 'firedAt', 'body', 'alias'].map((name) => ({ name, type: 'string' }))
  await ask(app, 'POST', '/api/schemas', { key, json: { projectId, name: 'notes', fields } })
  const addRule = async (rule: Body) =>
    String(
      (await call('POST', `/api/proxy-rules/project/${projectId}`, { proxyType: 'pipeline', ...rule })).body[
        'id'
      ],
    )
  const ruleId = await addRule({
    pathPattern: '/api/refresh',
    method: 'POST',
    pipelineConfig: { steps: NOTE_STEPS },
  })
  scheduleDuty(app.ctx).isOn = true
  scheduleDuty(app.ctx).perform = performer(app.ctx)
  return {
    app,
    key,
    projectId,
    ruleId,
    call,
    schedules,
    addRule,
    async make(json) {
      const { status, body } = await schedules('POST', '', { ruleId, ...json })
      if (status !== 201) throw new Error(JSON.stringify(body))
      return body as ScheduleView
    },
    get: async (id) => (await schedules('GET', `/${id}`)).body as ScheduleView,
    async push(json, expected = 200) {
      const { status, body } = await call('PUT', `/api/proxy-rule-sets/project/${projectId}/sync`, json)
      if (status !== expected) throw new Error(`${status} ${JSON.stringify(body)}`)
      return body
    },
    async notes() {
      const { body } = await call('GET', `/api/schemas?projectId=${projectId}`)
      const list = (body['schemas'] ?? body['data']) as { id: string; name: string }[]
      const id = list.find(({ name }) => name === 'notes')?.id
      const records = await call('GET', `/api/schemas/${id}/records?limit=100&order=asc`)
      return records.body['data'] as Body[]
    },
    runs: async () =>
      (await call('GET', `/api/projects/${projectId}/pipeline-runs?order=asc`)).body['data'] as Body[],
    async turn(ms) {
      app.advance(ms)
      await clockOf(app.ctx).fireAndWait()
    },
    close() {
      scheduleDuty(app.ctx).isOn = false
      void clockOf(app.ctx).stop()
      app.close()
    },
  }
}
