import { afterEach, describe, expect, test } from 'bun:test'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../domain/durations.ts'
import { type ScheduleApp, scheduleApp } from '../../testing/schedule-app.ts'
import { SEED_OWNER, seedDeployment } from '../../testing/seed.ts'
import { NOON } from '../../testing/test-app.ts'
import { until } from '../../testing/until.ts'
import { claimDue, claimNow, endRun, settleLeft } from './claims.ts'
import { clockOf } from './clock.ts'
import { scheduleDuty } from './duty.ts'
import type { Room } from './places.ts'

const opened: ScheduleApp[] = []
afterEach(() => {
  for (const one of opened.splice(0)) one.close()
})

async function setUp(): Promise<ScheduleApp> {
  const made = await scheduleApp()
  opened.push(made)
  return made
}

const at = (time: number) => new Date(time).toISOString()

/** Runs that end when they are told to. */
function heldRuns({ app }: ScheduleApp) {
  const held: { id: string; end: (status?: 'ok' | 'failed') => void }[] = []
  scheduleDuty(app.ctx).perform = ({ id }) =>
    new Promise((resolve) => held.push({ id, end: (status = 'ok') => resolve({ status, error: null }) }))
  return held
}

describe('a run', () => {
  test('is the pipeline without a visitor, knows its schedule, and is in the run log', async () => {
    const one = await setUp()
    const { id } = await one.make({ name: 'feeds', cron: '*/15 * * * *' })
    expect((await one.get(id)).nextRunAt).toBe(at(NOON + 15 * MINUTE_MS))
    await one.turn(15 * MINUTE_MS)
    const firedAt = at(NOON + 15 * MINUTE_MS)
    expect(await one.notes()).toMatchObject([
      { schedule: 'feeds', firedAt, body: 'feeds', alias: 'production' },
    ])
    expect(await one.runs()).toMatchObject([
      { trigger: 'schedule', scheduleId: id, method: 'POST', path: '/api/refresh', status: 200, error: null },
    ])
    expect(await one.get(id)).toMatchObject({
      lastRunAt: firedAt,
      lastStatus: 'ok',
      lastError: null,
      lastDurationMs: expect.any(Number),
      isRunning: false,
      nextRunAt: at(NOON + 30 * MINUTE_MS),
    })
  })

  test('of a visitor has no schedule', async () => {
    const one = await setUp()
    const host = 'production--site--acme.localhost'
    expect((await one.app.call('POST', '/api/refresh', { host, json: {} })).status).toBe(200)
    expect(await one.notes()).toMatchObject([{ schedule: null, firedAt: null }])
    expect(await one.runs()).toMatchObject([{ trigger: 'request', scheduleId: null }])
  })

  test('nobody is signed in, so auth_required refuses it; rate_limit does not count it', async () => {
    const one = await setUp()
    const limit = { type: 'rate_limit', config: { limit: 1, windowSeconds: 3600, keyBy: 'ip' } }
    const config = (validators: unknown[]) => ({ steps: [], validators })
    const closed = await one.addRule({
      pathPattern: '/api/closed',
      pipelineConfig: config([{ type: 'auth_required', config: {} }]),
    })
    const limited = await one.addRule({ pathPattern: '/api/limited', pipelineConfig: config([limit]) })
    const refused = await one.make({ name: 'closed', cron: '* * * * *', ruleId: closed })
    const often = await one.make({ name: 'often', cron: '* * * * *', ruleId: limited })
    for (let i = 0; i < 3; i += 1) await one.turn(MINUTE_MS)
    expect(await one.get(refused.id)).toMatchObject({
      lastStatus: 'failed',
      lastError: 'auth_required refuses a scheduled run: nobody is signed in',
    })
    expect(await one.get(often.id)).toMatchObject({ lastStatus: 'ok' })
    expect((await one.runs()).filter(({ status }) => status === 401)).toHaveLength(3)
  })

  test('a validator that this version does not know refuses it, too', async () => {
    const one = await setUp()
    const { app, projectId } = one
    const { id } = await one.make({ name: 'strange', cron: '* * * * *' })
    app.ctx.db.sqlite.run('UPDATE proxy_rules SET pipeline_config = ? WHERE project_id = ?', [
      JSON.stringify({ steps: [], validators: [{ type: 'rate_limit', config: { limit: 1, burst: 9 } }] }),
      projectId,
    ])
    await one.turn(MINUTE_MS)
    expect((await one.get(id)).lastError).toContain('burst')
  })

  test('fails with its step, and with an answer that says so', async () => {
    const one = await setUp()
    const rule = (path: string, steps: unknown[]) =>
      one.addRule({ pathPattern: path, pipelineConfig: { steps } })
    const broken = await rule('/api/broken', [
      {
        id: 'f',
        handlerType: 'data_query',
        config: { schemaId: '$schema:notes', limit: 'input.scheduleName' },
      },
    ])
    const refusing = await rule('/api/refusing', [
      { id: 'r', handlerType: 'response_handler', config: { status: 502, body: '{}' } },
    ])
    const [a, b] = [
      await one.make({ name: 'a', cron: '* * * * *', ruleId: broken }),
      await one.make({ name: 'b', cron: '* * * * *', ruleId: refusing }),
    ]
    await one.turn(MINUTE_MS)
    expect((await one.get(a.id)).lastStatus).toBe('failed')
    expect((await one.get(a.id)).lastError).toBeString()
    expect(await one.get(b.id)).toMatchObject({
      lastStatus: 'failed',
      lastError: 'The pipeline answered 502',
    })
  })

  test('runs its post steps', async () => {
    const one = await setUp()
    const { body } = await one.call('PATCH', `/api/proxy-rules/${one.ruleId}`, {
      pipelineConfig: {
        steps: [],
        postSteps: [
          {
            id: 'p',
            handlerType: 'data_create',
            config: { schemaId: '$schema:notes', fields: { schedule: 'request.schedule.name' } },
          },
        ],
      },
    })
    expect(body['id']).toBe(one.ruleId)
    await one.make({ name: 'later', cron: '* * * * *' })
    await one.turn(MINUTE_MS)
    const { waitForWork } = await import('../../pipelines/track-work.ts')
    await waitForWork(one.app.ctx, 2000)
    await Bun.sleep(0)
    await waitForWork(one.app.ctx, 2000)
    expect(await one.notes()).toMatchObject([{ schedule: 'later' }])
  })
})

/** Projects of one owner, with the name of the owner and a number, and their schedules. */
async function hourly(
  { app, ruleId }: ScheduleApp,
  { owner, projects, schedules = 1 }: { owner: string; projects: number; schedules?: number },
): Promise<void> {
  const { sqlite } = app.ctx.db
  const email = `${owner}@example.com`
  const ownerId =
    sqlite.query<{ id: string }, [string]>('SELECT id FROM users WHERE email = ?').get(email)?.id ??
    (await app.addUser(email, 'member'))
  for (let number = 0; number < projects; number += 1) {
    const repo = `${owner}${number}`
    const seed = { owner: 'acme', repo, sha: 'b'.repeat(40), files: { 'index.html': 'x' } }
    const { projectId } = await seedDeployment(app, seed)
    sqlite.run('INSERT INTO ownership_transfers VALUES (?, ?, 0)', [projectId, ownerId])
    const insert = sqlite.prepare(INSERT)
    sqlite.transaction(() => {
      for (let i = 0; i < schedules; i += 1)
        insert.run(`${repo}-${i}`, projectId, ruleId, '0 * * * *', 'UTC', NOON + HOUR_MS)
    })()
  }
}

const INSERT = `INSERT INTO schedules (id, project_id, rule_id, method, name, cron, timezone, is_enabled, catch_up, is_pushed,
    next_run_at, created_at, updated_at) VALUES (?1, ?2, ?3, 'POST', ?1, ?4, ?5, 1, 'none', 0, ?6, 0, 0)`

/** Room for as many, whoever they are of. */
const roomFor = (atOnce: number): Room => ({
  atOnce,
  shares: { maxPerProject: atOnce, sharedPerOwner: atOnce, maxPerOwner: atOnce },
  running: [],
})

describe('one run at a time', () => {
  test('what is due meanwhile is skipped; with catchUp once it is made up for', async () => {
    const one = await setUp()
    const held = heldRuns(one)
    const none = await one.make({ name: 'none', cron: '* * * * *' })
    const once = await one.make({ name: 'once', cron: '* * * * *', catchUp: 'once' })
    const clock = clockOf(one.app.ctx)
    one.app.advance(MINUTE_MS)
    await clock.start()
    expect(held.map(({ id }) => id).sort()).toEqual([none.id, once.id].sort())
    expect(await one.schedules('POST', `/${none.id}/run`)).toMatchObject({
      status: 409,
      body: { error: 'SCHEDULE_RUNNING' },
    })
    one.app.advance(MINUTE_MS)
    await clock.start()
    expect(held).toHaveLength(2)
    expect(await one.get(none.id)).toMatchObject({ lastStatus: 'skipped', isRunning: true })
    for (const run of held.splice(0)) run.end()
    while (held.length === 0) await Bun.sleep(1)
    expect(held.map(({ id }) => id)).toEqual([once.id])
    expect(await one.get(none.id)).toMatchObject({ lastStatus: 'ok', isRunning: false })
    held[0]?.end('failed')
    await clock.fireAndWait()
    expect(await one.get(once.id)).toMatchObject({ lastStatus: 'failed', isRunning: false })
    const text = await (await one.app.call('GET', '/metrics')).text()
    for (const line of [
      '{status="ok"} 2',
      '{status="failed"} 1',
      '{status="skipped"} 2',
      '{status="interrupted"} 0',
    ])
      expect(text).toContain(`svc_schedule_runs_total${line}\n`)
    expect(text).toContain('svc_schedules 2\n')
  })

  test('at most ten run at once; the others wait for a place', async () => {
    const one = await setUp()
    const held = heldRuns(one)
    await clockOf(one.app.ctx).start()
    for (const owner of 'abcd') await hourly(one, { owner, projects: 3 })
    one.app.advance(HOUR_MS)
    await clockOf(one.app.ctx).start()
    expect(held).toHaveLength(10)
    const extra = await one.make({ name: 'extra', cron: '0 0 1 1 *' })
    expect((await one.schedules('POST', `/${extra.id}/run`)).status).toBe(202)
    expect(held).toHaveLength(10)
    expect((await one.get(extra.id)).isRunning).toBe(true)
    for (let ended = 0; ended < 13; ended += 1) {
      while (held[ended] === undefined) await Bun.sleep(1)
      held[ended]?.end()
    }
    await clockOf(one.app.ctx).fireAndWait()
    expect(new Set(held.map(({ id }) => id)).size).toBe(13)
  })

  test('an owner runs four at once and a project three, so that the long runs of one leave places to the others', async () => {
    const one = await setUp()
    const held = heldRuns(one)
    const running = () => held.map(({ id }) => id)
    await hourly(one, { owner: 'a', projects: 3, schedules: 500 })
    const byHand: string[] = []
    for (let i = 0; i < 12; i += 1) byHand.push((await one.make({ name: `s${i}`, cron: '@yearly' })).id)
    one.app.advance(HOUR_MS)
    await clockOf(one.app.ctx).start()
    expect(running()).toEqual(['a0-0', 'a0-1', 'a0-2', 'a1-0'])
    for (const id of byHand) await one.schedules('POST', `/${id}/run`)
    expect(running().slice(4)).toEqual(byHand.slice(0, 3))
    await hourly(one, { owner: 'b', projects: 1 })
    await clockOf(one.app.ctx).start()
    expect(running().slice(7)).toEqual(['b0-0'])
    held[0]?.end()
    await until('the next begins', () => running().length === 9)
    expect(running()[8]).toBe('a2-0')
  })

  test('run now does not wait, and changes nothing about the next time', async () => {
    const one = await setUp()
    const held = heldRuns(one)
    const { id, nextRunAt } = await one.make({ name: 'now', cron: '0 6 * * *' })
    expect(await one.schedules('POST', `/${id}/run`)).toEqual({
      status: 202,
      body: { scheduleId: id, firedAt: at(NOON) },
    })
    expect(await one.get(id)).toMatchObject({ isRunning: true, nextRunAt, lastRunAt: at(NOON) })
    held[0]?.end()
    await clockOf(one.app.ctx).fireAndWait()
    expect(await one.get(id)).toMatchObject({ isRunning: false, nextRunAt })
  })
})

describe('a nominal time runs at most once', () => {
  test('also when the clock is set back', async () => {
    const one = await setUp()
    const { id } = await one.make({ name: 'hourly', cron: '0 * * * *' })
    await one.turn(HOUR_MS)
    await one.turn(-HOUR_MS)
    await one.turn(HOUR_MS)
    expect(await one.runs()).toHaveLength(1)
    expect((await one.get(id)).nextRunAt).toBe(at(NOON + 2 * HOUR_MS))
    await one.turn(HOUR_MS)
    expect(await one.runs()).toHaveLength(2)
  })

  test('and what passed in one leap of the clock runs once', async () => {
    const one = await setUp()
    const { id } = await one.make({ name: 'minutes', cron: '* * * * *' })
    await one.turn(400 * DAY_MS)
    expect(await one.runs()).toHaveLength(1)
    expect((await one.get(id)).nextRunAt).toBe(at(NOON + 400 * DAY_MS + MINUTE_MS))
  })
})

describe('after the server was down', () => {
  /** Another server on the same workspace. */
  const left = (one: ScheduleApp, ms: number) => {
    one.app.advance(ms)
    return settleLeft(one.app.ctx.db, one.app.ctx.now(), new Set())
  }

  test('none forgets what passed, once makes one run', async () => {
    const one = await setUp()
    const none = await one.make({ name: 'none', cron: '*/5 * * * *' })
    const once = await one.make({ name: 'once', cron: '*/5 * * * *', catchUp: 'once' })
    left(one, HOUR_MS)
    const next = at(NOON + HOUR_MS + 5 * MINUTE_MS)
    expect((await one.get(none.id)).nextRunAt).toBe(next)
    await one.turn(0)
    expect(await one.runs()).toMatchObject([{ scheduleId: once.id }])
    expect((await one.get(once.id)).nextRunAt).toBe(next)
    await one.turn(0)
    expect(await one.runs()).toHaveLength(1)
  })

  test('a run that did not end is interrupted; once runs it again, unless it ended so three times', async () => {
    const one = await setUp()
    const { db } = one.app.ctx
    const none = await one.make({ name: 'none', cron: '0 6 * * *' })
    const once = await one.make({ name: 'once', cron: '0 6 * * *', catchUp: 'once' })
    for (const { id } of [none, once]) expect(claimNow(db, id, NOON)).toBe(true)
    expect(left(one, MINUTE_MS)).toBe(2)
    expect(await one.get(none.id)).toMatchObject({
      lastStatus: 'interrupted',
      isRunning: false,
      lastError: 'The server stopped while it was running',
      nextRunAt: none.nextRunAt,
    })
    for (let i = 0; i < 2; i += 1) {
      expect(claimDue(db, one.app.ctx.now(), roomFor(10)).fired).toMatchObject([{ id: once.id }])
      expect(left(one, MINUTE_MS)).toBe(1)
    }
    expect(claimDue(db, one.app.ctx.now(), roomFor(10)).fired).toMatchObject([{ id: once.id }])
    expect(left(one, MINUTE_MS)).toBe(1)
    expect(claimDue(db, one.app.ctx.now(), roomFor(10)).fired).toEqual([])
    expect((await one.get(once.id)).nextRunAt).toBe(once.nextRunAt)
  })

  test('the end of a run that was given up by then changes nothing', async () => {
    const one = await setUp()
    const { db } = one.app.ctx
    const { id } = await one.make({ name: 'late', cron: '0 6 * * *' })
    claimNow(db, id, NOON)
    left(one, MINUTE_MS)
    const fired = { id, projectId: one.projectId, name: 'late', firedAt: NOON }
    endRun(db, fired, { status: 'ok', error: null, durationMs: 1 }, NOON)
    expect((await one.get(id)).lastStatus).toBe('interrupted')
  })
})

test('paused schedules, preview copies and those of a deleted project do not fire', async () => {
  const one = await setUp()
  const paused = await one.make({ name: 'paused', cron: '* * * * *', isEnabled: false })
  expect(paused.nextRunAt).toBeNull()
  const on = await one.schedules('PATCH', `/${paused.id}`, { isEnabled: true })
  expect(on.body['nextRunAt']).toBe(at(NOON + MINUTE_MS))
  await one.schedules('PATCH', `/${paused.id}`, { isEnabled: false })
  const rules = [{ pathPattern: '/api/tick', method: 'POST', pipelineConfig: { steps: [] } }]
  const schedules = [{ name: 'tick', cron: '* * * * *', rule: 'POST /api/tick' }]
  await one.push({ ruleSet: { name: 'site' }, rules, schedules })
  await one.push({ ruleSet: { name: 'site-pr-7' }, rules, schedules })
  const { body } = await one.schedules('GET')
  const list = body['schedules'] as { id: string; name: string; nextRunAt: string | null }[]
  expect(list.map(({ name, nextRunAt }) => [name, nextRunAt === null])).toEqual([
    ['paused', true],
    ['tick', false],
    ['tick', true],
  ])
  await one.turn(MINUTE_MS)
  expect(await one.runs()).toHaveLength(1)
  const copy = list.find(({ name, nextRunAt }) => name === 'tick' && nextRunAt === null)
  expect((await one.schedules('POST', `/${copy?.id}/run`)).status).toBe(202)
  await one.turn(0)
  expect(await one.runs()).toHaveLength(2)
  const gone = await one.app.call('DELETE', `/api/projects/${one.projectId}`, { as: SEED_OWNER })
  expect(gone.status).toBe(204)
  one.app.advance(MINUTE_MS)
  expect(claimDue(one.app.ctx.db, one.app.ctx.now(), roomFor(10)).fired).toEqual([])
})

describe('ten thousand schedules', () => {
  test('each fires once a turn, whatever the turn', async () => {
    const one = await setUp()
    const { db } = one.app.ctx
    const insert = db.sqlite.prepare(INSERT)
    const zones = ['UTC', 'Europe/Berlin', 'Australia/Lord_Howe', 'Asia/Kathmandu']
    db.sqlite.transaction(() => {
      for (let i = 0; i < 10_000; i += 1)
        insert.run(
          `s${i}`,
          one.projectId,
          one.ruleId,
          `${i % 60} ${i % 3 === 0 ? '*' : i % 24} * * *`,
          zones[i % zones.length] ?? 'UTC',
          NOON + (i % 60) * MINUTE_MS,
        )
    })()
    let now = NOON
    for (const ms of [HOUR_MS, DAY_MS, 365 * DAY_MS, 10 * 365 * DAY_MS]) {
      now += ms
      const seen = new Set<string>()
      let times = 0
      for (;;) {
        const { fired } = claimDue(db, now, roomFor(10))
        for (const one of fired) {
          times += 1
          seen.add(one.id)
          endRun(db, one, { status: 'ok', error: null, durationMs: 0 }, now)
        }
        if (fired.length === 0) break
      }
      expect(seen.size).toBe(times)
      if (ms >= DAY_MS) expect(seen.size).toBe(10_000)
      const left = db.sqlite.query<{ n: number }, [number]>(
        'SELECT count(*) AS n FROM schedules WHERE next_run_at <= ?',
      )
      expect(left.get(now)?.n).toBe(0)
    }
  })
})
