import { afterEach, beforeEach, expect, test } from 'bun:test'
import { DAY_MS } from '../../domain/durations.ts'
import { type ClockOfProcess, clockOfProcess } from '../../testing/clock-of-process.ts'
import { cookieOf, signIn } from '../../testing/full-disk.ts'
import type { ServerProcess } from '../../testing/server-process.ts'
import { type StoreProcess, storeProcess } from '../../testing/store-process.ts'
import { until } from '../../testing/until.ts'

/** contract 14 §5, 18 §5: schedules run on the primary, also after another machine has taken over. */

let at: StoreProcess
let clocks: ClockOfProcess[]
let running: ServerProcess[]
beforeEach(async () => {
  at = await storeProcess({ ROLE: 'auto', TAKEOVER_SECONDS: '3' })
  at.store.checksTime = false
  clocks = []
  running = []
})
afterEach(async () => {
  for (const server of running) server.signal('SIGKILL')
  await Promise.all(running.map(({ exited }) => exited))
  for (const clock of clocks) clock.remove()
  await at.remove()
})

/** A machine whose clock is ahead. */
async function start(name: string, aheadMs: number): Promise<ServerProcess> {
  const clock = clockOfProcess()
  clock.isAheadBy(aheadMs)
  clocks.push(clock)
  const server = await at.start({ MACHINE_NAME: name, ...clock.env }, `${at.dataDir}-${name}`)
  running.push(server)
  return server
}

async function kill(server: ServerProcess): Promise<void> {
  server.signal('SIGKILL')
  await server.exited
}

const becomesPrimary = ({ url }: ServerProcess) =>
  until('it is primary', async () => (await fetch(`${url}/api/health/primary`)).status === 200)

type Json = Record<string, unknown>
type Api = (method: string, path: string, json?: unknown) => Promise<Json>

async function apiOf(server: ServerProcess): Promise<Api> {
  const headers = {
    cookie: cookieOf(await signIn(server)),
    origin: server.url,
    'content-type': 'application/json',
  }
  return async (method, path, json) => {
    const body = json === undefined ? {} : { body: JSON.stringify(json) }
    const answer = await fetch(`${server.url}${path}`, { method, headers, ...body })
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`)
    return (await answer.json()) as Json
  }
}

/** A rule that waits, and makes a record of its run. */
async function makeRule(api: Api, projectId: unknown, schemaId: unknown, waitMs: number): Promise<unknown> {
  const code = `function handler() { const end = Date.now() + ${waitMs}; while (Date.now() < end); }`
  const fields = { schedule: 'request.schedule.name', firedAt: 'request.schedule.firedAt' }
  const steps = [
    { id: 'wait', handlerType: 'function_handler', config: { code, timeout: 10_000 } },
    { id: 'save', handlerType: 'data_create', config: { schemaId, fields } },
  ]
  const rule = { method: 'POST', proxyType: 'pipeline', pipelineConfig: { steps } }
  const made = await api('POST', `/api/proxy-rules/project/${projectId}`, {
    ...rule,
    pathPattern: `/${waitMs}`,
  })
  return made['id']
}

test('what ran on a killed primary is interrupted, and what is due after the take-over runs once', async () => {
  const one = await start('one', 0)
  const api = await apiOf(one)
  const { id: projectId } = await api('POST', '/api/projects', { owner: 'acme', name: 'site' })
  const fields = ['schedule', 'firedAt'].map((name) => ({ name, type: 'string' }))
  const { id: schemaId } = await api('POST', '/api/schemas', { projectId, name: 'notes', fields })
  const schedules = `/api/projects/${projectId}/schedules`
  const make = async (name: string, waitMs: number, more: Json) => {
    const ruleId = await makeRule(api, projectId, schemaId, waitMs)
    return (await api('POST', schedules, { name, cron: '@daily', ruleId, ...more }))['id']
  }
  const slow = await make('slow', 8_000, { isEnabled: false })
  const daily = await make('daily', 1, { catchUp: 'once' })
  await start('two', DAY_MS)
  await api('POST', `${schedules}/${slow}/run`)
  await kill(one)

  const two = running[1] as ServerProcess
  await becomesPrimary(two)
  const onTwo = await apiOf(two)
  const notes = async (ask: Api) => {
    const { data } = await ask('GET', `/api/schemas/${schemaId}/records`)
    return (data as Json[]).map(({ schedule, firedAt }) => `${schedule} ${firedAt}`)
  }
  await until('the missed one has run', async () => (await notes(onTwo)).length > 0)
  expect(await onTwo('GET', `${schedules}/${slow}`)).toMatchObject({
    isRunning: false,
    lastStatus: 'interrupted',
  })
  const after = await notes(onTwo)
  expect(after).toEqual([expect.stringMatching(/^daily /)])

  // The first takes over in its turn: that time has had its run.
  const again = await start('one', DAY_MS)
  await kill(two)
  await becomesPrimary(again)
  const onOne = await apiOf(again)
  expect(await onOne('GET', `${schedules}/${daily}`)).toMatchObject({ isRunning: false, lastStatus: 'ok' })
  expect(await notes(onOne)).toEqual(after)
}, 100_000)
