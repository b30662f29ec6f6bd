import type { Appliance } from '../../ui/e2e/appliance.ts'
import { seedFiles } from '../../ui/e2e/file-seed.ts'

/** What some pages are about besides the team itself. */
export type Extras = Record<
  | 'hook'
  | 'delivery'
  | 'ownHook'
  | 'ownDelivery'
  | 'schedule'
  | 'file'
  | 'run'
  | 'ruleSet'
  | 'record'
  | 'group',
  string
>

/** One of everything that has a page of its own. */
export async function addExtras(appliance: Appliance, project: string, schema: string): Promise<Extras> {
  const send: Send = async (method, path, json) => (await appliance.asAdmin(method, path, json)).json()
  const { hook, delivery } = await addHook(send, `/api/projects/${project}/webhooks`)
  const own = await addHook(send, '/api/webhooks')
  const files = await seedFiles(appliance, project, 'acme/guestbook')
  const { schedule, run } = await addRefresh(send, project)
  const { ruleSets } = await send('GET', `/api/proxy-rule-sets/project/${project}`)
  const { data: records } = await send('GET', `/api/schemas/${schema}/records?limit=1`)
  const { data: groups } = await send('GET', '/api/groups')
  return {
    ...{ hook, delivery, ownHook: own.hook, ownDelivery: own.delivery },
    ...{ schedule, run, file: files['pictures/a.png'] ?? '' },
    ...{ ruleSet: ruleSets[0].id, record: records[0].id, group: groups[0].id },
  }
}

/** What is used of the API's answers. */
type Sent = { id: string; ruleSets: [Made]; data: [Made] }
type Made = { id: string }
type Send = (method: string, path: string, json?: unknown) => Promise<Sent>

async function addHook(send: Send, hooks: string): Promise<{ hook: string; delivery: string }> {
  const hook = await send('POST', hooks, { url: 'https://chat.example.org/hooks/svc', events: ['*'] })
  const delivery = await send('POST', `${hooks}/${hook.id}/test`, {})
  return { hook: hook.id, delivery: delivery.id }
}

/** A pipeline that a schedule runs, and a run of it by hand. */
async function addRefresh(send: Send, project: string): Promise<{ schedule: string; run: string }> {
  const { id: ruleId } = await send('POST', `/api/proxy-rules/project/${project}`, {
    ...{ pathPattern: '/api/refresh', method: 'POST', proxyType: 'pipeline', debugEnabled: true },
    pipelineConfig: {
      name: 'refresh',
      steps: [{ id: 'answer', handlerType: 'response_handler', config: { body: '{"refreshed":true}' } }],
    },
  })
  const timing = { cron: '0 6 * * *', timezone: 'Europe/Berlin' }
  const schedule = await send('POST', `/api/projects/${project}/schedules`, {
    name: 'morning',
    ruleId,
    ...timing,
  })
  await send('POST', '/repo/acme/guestbook/alias/production/api/refresh', {})
  const { data: runs } = await send('GET', `/api/projects/${project}/pipeline-runs`)
  return { schedule: schedule.id, run: runs[0].id }
}
