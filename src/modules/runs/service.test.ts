import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type PipelineApp, pipelineApp } from '../../testing/pipeline-app.ts'
import { stopAfter } from '../../testing/stop-after.ts'
import { flushRuns, type NewRun, recordRun, removeOldRuns } from './service.ts'

let app: PipelineApp
beforeAll(async () => {
  app = await pipelineApp()
})
afterAll(() => app.close())

const runOf = (projectId: string, more: Partial<NewRun> = {}): NewRun => ({
  projectId,
  ruleId: 'r',
  ruleName: null,
  phase: 'steps',
  pathPattern: '/x',
  method: 'GET',
  path: '/x',
  status: 500,
  durationMs: 1,
  failedStep: null,
  error: null,
  steps: null,
  startedAt: app.ctx.now(),
  ...more,
})

test('a flood of successes is thinned, only in its project; failures and details are kept', () => {
  const [flooded, other] = [app.addProject('flooded'), app.addProject('other')]
  const kept = (projectId: string, status: number) => {
    flushRuns(app.ctx)
    return app.ctx.db.sqlite
      .query<{ n: number }, [string, number]>(
        'SELECT count(*) AS n FROM pipeline_runs WHERE project_id = ? AND status = ?',
      )
      .get(projectId, status)?.n
  }
  for (let i = 0; i < 2500; i++) recordRun(app.ctx, runOf(flooded, { status: 200 }))
  for (let i = 0; i < 10; i++) recordRun(app.ctx, runOf(flooded, { status: 400 }))
  recordRun(app.ctx, runOf(flooded, { status: 201, steps: '[]' }))
  recordRun(app.ctx, runOf(other, { status: 200 }))
  expect([kept(flooded, 200), kept(flooded, 400), kept(flooded, 201), kept(other, 200)]).toEqual([
    2000, 10, 1, 1,
  ])
  app.advance(250)
  recordRun(app.ctx, runOf(flooded, { status: 200 }))
  expect(kept(flooded, 200)).toBe(2001)
})

test('runs are limited by number and by age', async () => {
  const projectId = app.addProject('busy')
  const run = runOf(projectId)
  const total = () =>
    app.ctx.db.sqlite
      .query<{ n: number }, [string]>('SELECT count(*) AS n FROM pipeline_runs WHERE project_id = ?')
      .get(projectId)?.n
  for (let i = 0; i < 10_050; i++) recordRun(app.ctx, { ...run, startedAt: app.ctx.now() })
  flushRuns(app.ctx)
  await removeOldRuns(app.ctx)
  expect(total()).toBe(10_000)
  app.advance(31 * 24 * 3600 * 1000)
  recordRun(app.ctx, { ...run, startedAt: app.ctx.now() })
  await removeOldRuns(app.ctx)
  expect(total()).toBe(1)
})

test('many old runs are removed in steps, and the next run continues', async () => {
  const [old, empty, recent] = [app.addProject('old'), app.addProject('empty'), app.addProject('recent')]
  const total = (projectId: string) =>
    app.ctx.db.sqlite
      .query<{ n: number }, [string]>('SELECT count(*) AS n FROM pipeline_runs WHERE project_id = ?')
      .get(projectId)?.n
  for (let i = 0; i < 1200; i++) recordRun(app.ctx, runOf(old))
  flushRuns(app.ctx)
  app.advance(31 * 24 * 3600 * 1000)
  recordRun(app.ctx, runOf(recent))
  await removeOldRuns(app.ctx, stopAfter(1))
  expect(total(old)).toBeGreaterThan(0)
  await removeOldRuns(app.ctx)
  expect([old, empty, recent].map(total)).toEqual([0, 0, 1])
})

test('a clock that is set back neither drops nor deletes runs', async () => {
  const projectId = app.addProject('set-back')
  const kept = async (status: number) => {
    await removeOldRuns(app.ctx)
    return app.ctx.db.sqlite
      .query<{ n: number }, [string, number]>(
        'SELECT count(*) AS n FROM pipeline_runs WHERE project_id = ? AND status = ?',
      )
      .get(projectId, status)?.n
  }
  const YEARS_MS = 50 * 365 * 24 * 3600 * 1000
  for (let i = 0; i < 2001; i++) recordRun(app.ctx, runOf(projectId, { status: 201 }))
  app.advance(-YEARS_MS)
  // By that time, one more of the same flood.
  recordRun(app.ctx, runOf(projectId, { status: 200 }))
  expect([await kept(200), await kept(201)]).toEqual([1, 2000])
  app.advance(YEARS_MS)
  expect([await kept(200), await kept(201)]).toEqual([0, 2000])
})
