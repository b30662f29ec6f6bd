import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { type ScheduleApp, scheduleApp } from '../../src/testing/schedule-app.ts'

const ROOT = 'root@example.com'
let one: ScheduleApp
beforeAll(async () => {
  one = await scheduleApp()
  await one.app.addUser(ROOT, 'admin')
})
afterAll(() => one.close())
beforeEach(() => {
  one.app.ctx.db.sqlite.run('DELETE FROM schedules')
})

const path = (rest = '') => `/projects/${one.projectId}/schedules${rest}`
const read = async (rest = '') =>
  (await (await one.app.call('GET', path(rest), { as: ROOT })).text()).replaceAll('\u00a0', ' ')
const post = (rest: string, fields: Record<string, string>) =>
  one.app.call('POST', path(rest), {
    as: ROOT,
    headers: { 'content-type': 'application/x-www-form-urlencoded', origin: 'http://localhost' },
    body: new URLSearchParams(fields).toString(),
  })
const FORM = () => ({
  name: 'feeds',
  ruleId: one.ruleId,
  cron: '0 6 * * 1-5',
  timezone: 'Europe/Berlin',
  catchUp: 'once',
  description: '',
  isEnabled: 'true',
})

test('a schedule is tried out, made, changed, paused, run and deleted without scripts', async () => {
  expect(await read()).toContain('No schedules yet')
  const tried = await (await post('/new', { ...FORM(), intent: 'preview' })).text()
  expect(tried).toContain('Mon, 23 Nov 2026, 06:00 CET')
  expect(tried).toContain('value="0 6 * * 1-5"')
  const made = await post('/new', { ...FORM(), intent: 'create' })
  const at = made.headers.get('location') ?? ''
  expect([made.status, at]).toEqual([303, expect.stringContaining('?done=created')])
  const rest = at.slice(path().length).replace(/\?.*/, '')
  const shown = await read(rest)
  for (const text of ['POST /api/refresh', 'Europe/Berlin', 'Runs once when the server is back'])
    expect(shown).toContain(text)
  await post(rest, { ...FORM(), cron: '@daily', intent: 'change' })
  expect(await one.get(rest.slice(1))).toMatchObject({ cron: '@daily', catchUp: 'once' })
  await post('', { intent: 'pause', scheduleId: rest.slice(1) })
  expect(await read()).toContain('Paused')
  await post(rest, { intent: 'resume' })
  expect((await one.get(rest.slice(1))).isEnabled).toBe(true)
  expect((await post(rest, { intent: 'run' })).status).toBe(303)
  await one.turn(0)
  expect(await one.notes()).toMatchObject([{ schedule: 'feeds' }])
  expect((await post(rest, { intent: 'delete' })).headers.get('location')).toBe(path('?done=deleted'))
  expect((await one.schedules('GET')).body).toEqual({ schedules: [] })
})

test('what is wrong is marked, and what was typed stays', async () => {
  const answer = await post('/new', { ...FORM(), cron: '0 25 * * *', intent: 'create' })
  const text = await answer.text()
  expect(answer.status).toBe(400)
  expect(text).toContain('0 to 23')
  expect(text).toContain('value="0 25 * * *"')
})

test('a script asks for the next times by the query', async () => {
  expect(await read('/new?cron=30+2+*+*+*&timezone=Asia/Kathmandu')).toContain(
    'Sat, 21 Nov 2026, 02:30 GMT+5:45',
  )
  expect(await read('/new?cron=x')).toContain('has 1 fields')
  expect(await read('/new?cron=@daily&timezone=Nowhere')).toContain('is no time zone')
})

test('one that a push made can be paused and run, and has no form', async () => {
  const rules = [{ pathPattern: '/api/tick', method: 'POST', pipelineConfig: { steps: [] } }]
  const schedules = [{ name: 'tick', cron: '@daily', rule: 'POST /api/tick' }]
  await one.push({ ruleSet: { name: 'site' }, rules, schedules })
  const [made] = (await one.schedules('GET')).body['schedules'] as { id: string }[]
  const shown = await read(`/${made?.id}`)
  expect(shown).toContain('change its file and push again')
  expect(shown).not.toContain('name="cron"')
  await post(`/${made?.id}`, { intent: 'pause' })
  expect((await one.get(made?.id ?? '')).isEnabled).toBe(false)
})
