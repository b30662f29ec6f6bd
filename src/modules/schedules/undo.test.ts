import { afterEach, beforeEach, expect, test } from 'bun:test'
import { DAY_MS, MINUTE_MS } from '../../domain/durations.ts'
import { NOTE_STEPS, type ScheduleApp, scheduleApp } from '../../testing/schedule-app.ts'
import { SEED_OWNER } from '../../testing/seed.ts'
import { NOON } from '../../testing/test-app.ts'

/** Schedules go with their rule, and come back with it. contract 14.6, 17.9. */
let one: ScheduleApp
beforeEach(async () => {
  one = await scheduleApp()
})
afterEach(() => one.close())

const at = (time: number) => new Date(time).toISOString()
const as = SEED_OWNER

async function change(method: string, path: string): Promise<string> {
  const answer = await one.app.call(method, path, { as })
  expect(answer.ok).toBe(true)
  return answer.headers.get('x-svc-change') ?? ''
}

const undo = (entry: string) => one.app.call('POST', `/api/audit/${entry}/undo`, { as })
const list = async () => (await one.schedules('GET')).body['schedules'] as Record<string, unknown>[]

test('the undo of a deleted rule brings its schedules back, from then on', async () => {
  const often = await one.make({ name: 'often', cron: '* * * * *', catchUp: 'once', description: 'Notes' })
  const paused = await one.make({ name: 'paused', cron: '@daily', isEnabled: false })
  await one.turn(MINUTE_MS)
  const before = await one.get(often.id)
  const entry = await change('DELETE', `/api/proxy-rules/${one.ruleId}`)
  expect(await list()).toEqual([])
  await one.turn(DAY_MS)
  const undone = await undo(entry)
  expect(undone.status).toBe(200)
  const now = NOON + MINUTE_MS + DAY_MS
  expect(await one.get(often.id)).toEqual({ ...before, nextRunAt: at(now + MINUTE_MS), updatedAt: at(now) })
  expect(await one.get(paused.id)).toMatchObject({ isEnabled: false, nextRunAt: null })
  await one.turn(0)
  expect(await one.notes()).toHaveLength(1)
  await one.turn(MINUTE_MS)
  expect(await one.notes()).toHaveLength(2)
  const again = await undo(undone.headers.get('x-svc-change') ?? '')
  expect(again.status).toBe(200)
  expect(await list()).toEqual([])
  expect((await undo(again.headers.get('x-svc-change') ?? '')).status).toBe(200)
  expect((await list()).map(({ name }) => name)).toEqual(['often', 'paused'])
})

test('that of a deleted alias, those of its own rules', async () => {
  const aliases = (await one.call('GET', `/api/aliases?projectId=${one.projectId}`)).body['data']
  const [alias] = aliases as { id: string }[]
  const rule = { pathPattern: '/api/own', proxyType: 'pipeline', pipelineConfig: { steps: NOTE_STEPS } }
  const made = await one.call('POST', `/api/proxy-rules/alias/${alias?.id}`, rule)
  const { id } = await one.make({ name: 'own', cron: '* * * * *', ruleId: made.body['id'] })
  const entry = await change('DELETE', `/api/aliases/${alias?.id}`)
  expect(await list()).toEqual([])
  expect((await undo(entry)).status).toBe(200)
  await one.turn(MINUTE_MS)
  expect(await one.get(id)).toMatchObject({ ruleId: made.body['id'], lastStatus: 'ok' })
})

test('a name that is taken by then, or a project that is full, refuses it and changes nothing', async () => {
  await one.make({ name: 'often', cron: '* * * * *' })
  const entry = await change('DELETE', `/api/proxy-rules/${one.ruleId}`)
  const ruleId = await one.addRule({ pathPattern: '/api/other', pipelineConfig: { steps: [] } })
  const other = await one.make({ name: 'often', cron: '@daily', ruleId })
  const taken = await undo(entry)
  expect([taken.status, (await taken.json()).message]).toEqual([409, 'There is a schedule often already'])
  expect((await list()).map(({ id }) => id)).toEqual([other.id])
  expect((await one.call('GET', `/api/proxy-rules/${one.ruleId}`)).status).toBe(404)
  await one.schedules('PATCH', `/${other.id}`, { name: 's1' })
  for (let i = 2; i <= 100; i += 1) await one.make({ name: `s${i}`, cron: '@daily', ruleId })
  const full = await undo(entry)
  expect([full.status, (await full.json()).error]).toEqual([409, 'CANNOT_UNDO'])
  await one.schedules('DELETE', `/${other.id}`)
  expect((await undo(entry)).status).toBe(200)
  expect(await list()).toHaveLength(100)
})
