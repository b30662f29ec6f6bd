import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DAY_MS } from '../../domain/durations.ts'
import { clockOfProcess } from '../../testing/clock-of-process.ts'
import { publishTar, shaOf } from '../../testing/publish-tar.ts'
import { rounds } from '../../testing/rounds.ts'
import { makeDataDir, runSvc, type ServerProcess, startServer } from '../../testing/server-process.ts'
import { until } from '../../testing/until.ts'

/** The real program is killed between the claim of a run and its end, and started again a day later. */
const data = makeDataDir()
const clock = clockOfProcess()
const work = mkdtempSync(join(tmpdir(), 'svc-work-'))
let server: ServerProcess | undefined

afterAll(async () => {
  server?.signal('SIGKILL')
  await server?.exited
  data.remove()
  clock.remove()
  rmSync(work, { recursive: true })
})

type Json = Record<string, unknown>
type Schedule = { id: string; isRunning: boolean; lastStatus: string | null; nextRunAt: string | null }

/** Ends so late that most kills come before. */
const SLOW = 'function handler() { const end = Date.now() + 80; while (Date.now() < end); }'
const fields = { schedule: 'request.schedule.name', firedAt: 'request.schedule.firedAt' }
const STEPS = [
  { id: 'wait', handlerType: 'function_handler', config: { code: SLOW, timeout: 10_000 } },
  { id: 'save', handlerType: 'data_create', config: { schemaId: '$schema:notes', fields } },
]

test('kill -9 between the claim of a run and its end: nothing runs twice, and what was cut off says so', async () => {
  const start = () =>
    startServer(data.path, {
      ...clock.env,
      ADMIN_EMAIL: 'a@example.com',
      ADMIN_PASSWORD: 'correct horse battery',
    })
  server = await start()
  const key = (await runSvc(['key', 'create', 'test', '--data-dir', data.path])).stdout.trim()
  const api = async (method: string, path: string, json?: unknown): Promise<Json> => {
    const answer = await fetch(`${server?.url}${path}`, {
      method,
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    })
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`)
    return (await answer.json()) as Json
  }
  expect(await publishTar(work, server, key, 'crash', shaOf(1), { 'index.html': 'x' })).toBe(true)
  const projectId = String((await api('GET', '/api/projects/acme/crash'))['id'])
  const named = ['schedule', 'firedAt'].map((name) => ({ name, type: 'string' }))
  const schema = await api('POST', '/api/schemas', { projectId, name: 'notes', fields: named })
  const rule = {
    pathPattern: '/api/x',
    method: 'POST',
    proxyType: 'pipeline',
    pipelineConfig: { steps: STEPS },
  }
  const ruleId = (await api('POST', `/api/proxy-rules/project/${projectId}`, rule))['id']
  const schedules = `/api/projects/${projectId}/schedules`
  const make = (name: string, more: Json) => api('POST', schedules, { name, cron: '@daily', ruleId, ...more })
  const byHand = String((await make('by-hand', { isEnabled: false }))['id'])
  const missed = String((await make('missed', { catchUp: 'once' }))['id'])
  const find = async (id: string) => (await api('GET', `${schedules}/${id}`)) as Schedule
  const states = new Set<string | null>()
  const claimed: unknown[] = []

  const whole = rounds(4, 200)
  for (let round = 1; round <= whole; round += 1) {
    // What is missed runs at the start; the other by hand, as long as nobody kills the server.
    claimed.push((await api('POST', `${schedules}/${byHand}/run`))['firedAt'])
    await Bun.sleep((round * 53) % 130)
    server.signal('SIGKILL')
    await server.exited
    clock.isAheadBy(round * DAY_MS)
    server = await start()
    await until('the runs have ended', async () => {
      const [a, b] = [await find(byHand), await find(missed)]
      return !a.isRunning && !b.isRunning && b.lastStatus !== null
    })
    states.add((await find(byHand)).lastStatus)
  }

  const notes: string[] = []
  for (let page = 1; notes.length === (page - 1) * 100; page += 1) {
    const { data } = await api('GET', `/api/schemas/${schema['id']}/records?limit=100&page=${page}`)
    for (const one of data as Json[]) notes.push(`${one['schedule']} ${one['firedAt']}`)
  }
  expect(new Set(notes).size).toBe(notes.length)
  for (const note of notes.filter((one) => one.startsWith('by-hand')))
    expect(claimed).toContain(note.slice('by-hand '.length))
  expect([...states].every((state) => state === 'ok' || state === 'interrupted')).toBe(true)
  expect(states).toContain('interrupted')
  expect(notes.filter((one) => one.startsWith('missed')).length).toBeLessThanOrEqual(2 * whole)
  server.signal('SIGTERM')
  expect(await server.exited).toBe(0)
  expect(await runSvc(['check', '--data-dir', data.path])).toMatchObject({ code: 0 })
}, 3_600_000)
