import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { HOUR_MS, MINUTE_MS } from '../../domain/durations.ts'
import { NOTE_STEPS, type ScheduleApp, scheduleApp } from '../../testing/schedule-app.ts'
import { NOON } from '../../testing/test-app.ts'

let one: ScheduleApp
beforeAll(async () => {
  one = await scheduleApp()
})
afterAll(() => one.close())
beforeEach(() => {
  one.app.ctx.db.sqlite.run('DELETE FROM schedules')
  one.app.ctx.db.sqlite.run('DELETE FROM rule_sets')
})

const at = (time: number) => new Date(time).toISOString()
const daily = { name: 'daily', cron: '0 6 * * *' }

describe('a schedule made by hand', () => {
  test('has everything that it was given, and defaults for the rest', async () => {
    const made = await one.make(daily)
    expect(made).toEqual({
      id: expect.any(String),
      projectId: one.projectId,
      ruleSetId: null,
      ruleId: one.ruleId,
      rule: 'POST /api/refresh',
      name: 'daily',
      cron: '0 6 * * *',
      timezone: 'UTC',
      isEnabled: true,
      catchUp: 'none',
      description: null,
      nextRunAt: '2026-11-21T06:00:00.000Z',
      lastRunAt: null,
      lastStatus: null,
      lastError: null,
      lastDurationMs: null,
      isRunning: false,
      source: null,
      createdAt: at(NOON),
      updatedAt: at(NOON),
    })
    expect((await one.schedules('GET')).body).toEqual({ schedules: [made] })
    expect(await one.get(made.id)).toEqual(made)
    const changes = {
      name: 'nightly',
      cron: '@daily',
      timezone: 'Asia/Kathmandu',
      catchUp: 'once',
      description: 'x',
    }
    const changed = await one.schedules('PATCH', `/${made.id}`, changes)
    expect(changed.body).toMatchObject({ ...changes, nextRunAt: '2026-11-20T18:15:00.000Z' })
    expect((await one.schedules('DELETE', `/${made.id}`)).status).toBe(204)
    expect((await one.schedules('GET', `/${made.id}`)).status).toBe(404)
  })

  const wrong: [what: string, body: Record<string, unknown>, status: number, says: string][] = [
    ['a cron with six fields', { cron: '0 0 6 * * *' }, 400, 'six fields|has 6 fields'],
    ['an hour that does not exist', { cron: '0 24 * * *' }, 400, 'hour: .*0 to 23'],
    ['what never comes', { cron: '0 0 30 2 *' }, 400, 'day of month: .*never comes'],
    ['a zone that does not exist', { timezone: 'Mars/Olympus' }, 400, 'Mars/Olympus'],
    ['an offset as a zone', { timezone: '+02:00' }, 400, 'IANA'],
    ['a name with a space', { name: 'a b' }, 400, 'name'],
    ['no name', { name: '' }, 400, 'name'],
    ['another word for catchUp', { catchUp: 'always' }, 400, 'none or once'],
    ['a text for isEnabled', { isEnabled: 'yes' }, 400, 'true or false'],
    ['a rule that does not exist', { ruleId: 'x' }, 404, 'no such rule'],
  ]
  test.each(wrong)('with %s is refused', async (_, body, status, says) => {
    const answer = await one.schedules('POST', '', { ...daily, ruleId: one.ruleId, ...body })
    expect([answer.status, String(answer.body['message'])]).toEqual([
      status,
      expect.stringMatching(new RegExp(says)),
    ])
    expect((await one.schedules('GET')).body).toEqual({ schedules: [] })
  })

  test('of a proxy, or of a rule with *, is refused', async () => {
    const proxy = await one.addRule({ pathPattern: '/api/r', proxyType: 'internal_rewrite', targetUrl: '/x' })
    const all = await one.addRule({ pathPattern: '/api/all/*', pipelineConfig: { steps: [] } })
    for (const [ruleId, says] of [
      [proxy, 'must be a pipeline'],
      [all, 'without *'],
    ] as const) {
      const { status, body } = await one.schedules('POST', '', { ...daily, ruleId })
      expect([status, body['message']]).toEqual([400, expect.stringContaining(says)])
    }
  })

  test('has a name of its own', async () => {
    await one.make(daily)
    const other = await one.make({ ...daily, name: 'other' })
    expect((await one.schedules('POST', '', { ...daily, ruleId: one.ruleId })).status).toBe(409)
    expect((await one.schedules('PATCH', `/${other.id}`, { name: 'daily' })).status).toBe(409)
  })

  test('goes with its rule', async () => {
    const ruleId = await one.addRule({ pathPattern: '/api/short', pipelineConfig: { steps: [] } })
    const { id } = await one.make({ ...daily, ruleId })
    expect((await one.call('DELETE', `/api/proxy-rules/${ruleId}`)).status).toBe(204)
    expect((await one.schedules('GET', `/${id}`)).status).toBe(404)
  })

  test('is the last of a hundred', async () => {
    const insert = one.app.ctx.db.sqlite.prepare(
      `INSERT INTO schedules (id, project_id, rule_id, method, name, cron, timezone, is_enabled, catch_up, is_pushed,
         created_at, updated_at) VALUES (?1, ?2, ?3, 'POST', ?1, '@daily', 'UTC', 1, 'none', 0, 0, 0)`,
    )
    for (let i = 0; i < 99; i += 1) insert.run(`n${i}`, one.projectId, one.ruleId)
    await one.make(daily)
    const { status, body } = await one.schedules('POST', '', { ...daily, name: 'x', ruleId: one.ruleId })
    expect([status, body['message']]).toEqual([400, expect.stringContaining('at most 100')])
  })

  test('leaves entries in the audit log that say what was changed', async () => {
    const { id } = await one.make(daily)
    await one.schedules('PATCH', `/${id}`, { isEnabled: false })
    const rows = one.app.ctx.db.sqlite
      .query<{ action: string; before: string; after: string }, [string]>(
        'SELECT action, before, after FROM audit_log WHERE target_id = ? ORDER BY id',
      )
      .all(id)
    expect(rows.map(({ action }) => action)).toEqual(['schedule.create', 'schedule.change'])
    expect(JSON.parse(rows[1]?.after ?? '')).toMatchObject({ name: 'daily', isEnabled: false })
  })
})

describe('the preview', () => {
  const preview = (query: string) => one.schedules('GET', `/preview?${query}`)

  test('has the next times, by the code that fires', async () => {
    const from = encodeURIComponent('2027-03-27T12:00:00Z')
    const query = `cron=${encodeURIComponent('30 2 * * *')}&timezone=Europe/Berlin&from=${from}&count=3`
    expect((await preview(query)).body).toEqual({
      runs: ['2027-03-28T01:00:00.000Z', '2027-03-29T00:30:00.000Z', '2027-03-30T00:30:00.000Z'],
    })
    const { body } = await preview('cron=@hourly')
    expect((body['runs'] as string[])[0]).toBe(at(NOON + HOUR_MS))
    expect(body['runs']).toHaveLength(5)
  })

  test.each([
    '',
    'cron=',
    'cron=x',
    'cron=@daily&count=0',
    'cron=@daily&count=51',
    'cron=@daily&count=1.5',
    'cron=@daily&from=then',
    'cron=@daily&timezone=Nowhere',
  ])('refuses %p', async (query) => expect((await preview(query)).status).toBe(400))
})

describe('schedules of a push', () => {
  const rule = { pathPattern: '/api/tick', method: 'POST', pipelineConfig: { steps: [] } }
  const guarded = {
    ...rule,
    pathPattern: '/api/mine',
    pipelineConfig: { steps: [], validators: [{ type: 'auth_required', config: {} }] },
  }
  const tick = { name: 'tick', cron: '*/5 * * * *', rule: 'POST /api/tick' }
  const none = { created: [], updated: [], deleted: [], unchanged: [], pruneCandidates: [] }
  const push = (more: Record<string, unknown> = {}, status = 200) =>
    one.push({ ruleSet: { name: 'site' }, rules: [rule], ...more }, status)
  const list = async () => (await one.schedules('GET')).body['schedules'] as Record<string, unknown>[]

  test('are made, changed, left alone and pruned like rules', async () => {
    const first = await push({ schedules: [tick] })
    expect(first['schedules']).toEqual({ ...none, created: ['tick'] })
    expect(await list()).toMatchObject([
      {
        ruleSetId: first['ruleSetId'],
        rule: 'POST /api/tick',
        nextRunAt: at(NOON + 5 * MINUTE_MS),
        source: { repo: null, path: null, gitSha: null, syncedAt: at(NOON) },
      },
    ])
    expect((await push({ schedules: [tick] }))['schedules']).toEqual({ ...none, unchanged: ['tick'] })
    const other = { ...tick, cron: '@daily' }
    expect((await push({ schedules: [other] }))['schedules']).toEqual({ ...none, updated: ['tick'] })
    expect((await push())['schedules']).toEqual(none)
    expect((await push({ schedules: [] }))['schedules']).toEqual({ ...none, pruneCandidates: ['tick'] })
    const pruning = { schedules: [], options: { prune: true } }
    const dry = await push({ ...pruning, options: { prune: true, dryRun: true } })
    expect(dry['schedules']).toEqual({ ...none, deleted: ['tick'] })
    expect(await list()).toHaveLength(1)
    expect((await push(pruning))['schedules']).toEqual({ ...none, deleted: ['tick'] })
    expect(await list()).toEqual([])
  })

  test('can only be paused and run by hand', async () => {
    await push({ schedules: [tick] })
    const id = String((await list())[0]?.['id'])
    for (const change of [{ cron: '@daily' }, { name: 'x' }, { isEnabled: false, catchUp: 'once' }])
      expect(await one.schedules('PATCH', `/${id}`, change)).toMatchObject({
        status: 409,
        body: { error: 'MANAGED_BY_PUSH' },
      })
    expect(await one.schedules('DELETE', `/${id}`)).toMatchObject({
      status: 409,
      body: { error: 'MANAGED_BY_PUSH' },
    })
    const paused = await one.schedules('PATCH', `/${id}`, { isEnabled: false })
    expect(paused.body).toMatchObject({ isEnabled: false, nextRunAt: null })
    expect((await push({ schedules: [tick] }))['schedules']).toEqual({ ...none, updated: ['tick'] })
  })

  const wrong: [what: string, schedules: unknown, says: string][] = [
    ['a rule that is not there', [{ ...tick, rule: 'POST /api/none' }], 'no rule of the set'],
    ['another method', [{ ...tick, rule: 'GET /api/tick' }], 'no rule of the set'],
    ['a wildcard', [{ ...tick, rule: 'POST /api/*' }], 'without *'],
    ['no method', [{ ...tick, rule: '/api/tick' }], 'method and path'],
    ['the same name twice', [tick, tick], 'two schedules with this name'],
    ['a wrong cron', [{ ...tick, cron: '61 * * * *' }], 'minute'],
    ['a wrong zone', [{ ...tick, timezone: 'X/Y' }], 'X/Y'],
    ['a wrong name', [{ ...tick, name: '../x' }], 'schedules[0].name'],
    ['no list', { tick }, 'A list of at most 100 schedules'],
    ['no objects', ['tick'], 'A schedule is an object'],
    ['101 of them', Array.from({ length: 101 }, (_, i) => ({ ...tick, name: `t${i}` })), 'at most 100'],
  ]
  test.each(wrong)('with %s are refused, and nothing is kept', async (_, schedules, says) => {
    const body = await push({ schedules }, 400)
    expect(JSON.stringify(body)).toContain(says)
    const { body: sets } = await one.call('GET', `/api/proxy-rule-sets/project/${one.projectId}`)
    expect(sets['ruleSets']).toEqual([])
  })

  test('that need somebody signed in are warned of', async () => {
    const { warnings } = await push({ rules: [guarded], schedules: [{ ...tick, rule: 'POST /api/mine' }] })
    expect(warnings).toEqual([
      'Schedule tick: POST /api/mine has auth_required, which refuses a scheduled run: nobody is signed in',
    ])
  })

  test('follow their rule to another path, and go with a rule that is pruned', async () => {
    await push({ schedules: [tick] })
    const before = (await list())[0]?.['id']
    const moved = { ...rule, pathPattern: '/api/tock' }
    const options = { prune: true }
    const next = { rules: [moved], schedules: [{ ...tick, rule: 'POST /api/tock' }], options }
    expect((await push(next))['schedules']).toEqual({ ...none, updated: ['tick'] })
    expect(await list()).toMatchObject([{ id: before, rule: 'POST /api/tock' }])
    expect((await push({ options }))['schedules']).toEqual({ ...none, deleted: ['tick'] })
    expect(await list()).toEqual([])
  })

  test('leave those made by hand alone, and take over one of the same name', async () => {
    await push()
    const { body } = await one.call('GET', `/api/proxy-rule-sets/project/${one.projectId}`)
    const setId = (body['ruleSets'] as { id: string }[])[0]?.id
    const set = await one.call('GET', `/api/proxy-rule-sets/${setId}`)
    const ruleId = (set.body['rules'] as { id: string }[])[0]?.id
    const mine = await one.make({ ...daily, ruleId })
    expect(mine).toMatchObject({ ruleSetId: setId, source: null })
    const pruning = { schedules: [], options: { prune: true } }
    expect((await push(pruning))['schedules']).toEqual(none)
    expect((await push({ schedules: [{ ...tick, name: 'daily' }] }))['schedules']).toEqual({
      ...none,
      updated: ['daily'],
    })
    expect(await list()).toMatchObject([{ id: mine.id, source: {} }])
    expect((await one.schedules('POST', '', { ...daily, ruleId })).status).toBe(409)
  })

  test('are in revisions, rollback and export', async () => {
    const { ruleSetId } = await push({ schedules: [tick] })
    await push({ schedules: [{ ...tick, cron: '@daily', description: 'x' }] })
    const exported = await one.call('GET', `/api/proxy-rule-sets/${ruleSetId}/export`)
    expect(exported.body['schedules']).toEqual([
      { ...tick, cron: '@daily', timezone: 'UTC', isEnabled: true, catchUp: 'none', description: 'x' },
    ])
    const { body } = await one.call('GET', `/api/proxy-rule-sets/${ruleSetId}/revisions`)
    const revisions = body['revisions'] as { id: string; current: boolean; schedules: string[] }[]
    expect(revisions.map(({ current, schedules }) => [current, schedules])).toEqual([
      [true, ['tick']],
      [false, ['tick']],
    ])
    const back = await one.call('POST', `/api/proxy-rule-sets/${ruleSetId}/rollback/${revisions[1]?.id}`, {})
    expect(back.body['schedules']).toEqual({ ...none, updated: ['tick'] })
    expect(await list()).toMatchObject([{ cron: tick.cron, description: null }])
  })

  test('run the rule that they name', async () => {
    await push({
      rules: [{ ...rule, pipelineConfig: { steps: NOTE_STEPS } }],
      schedules: [{ ...tick, catchUp: 'once' }],
    })
    const before = (await one.notes()).length
    await one.turn(5 * MINUTE_MS)
    const notes = await one.notes()
    expect(notes).toHaveLength(before + 1)
    expect(notes.at(-1)).toMatchObject({ schedule: 'tick', alias: 'production' })
  })
})
