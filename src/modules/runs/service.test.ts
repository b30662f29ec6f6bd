import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type PipelineApp, pipelineApp } from '../../testing/pipeline-app.ts'
import { flushRuns, recordRun, removeOldRuns } from './service.ts'

let app: PipelineApp
beforeAll(async () => {
  app = await pipelineApp()
})
afterAll(() => app.close())

test('runs are kept by number and by age', async () => {
  const projectId = app.addProject('busy')
  const run = {
    projectId,
    ruleId: 'r',
    ruleName: null,
    phase: 'steps' as const,
    pathPattern: '/x',
    method: 'GET',
    path: '/x',
    status: 200,
    durationMs: 1,
    failedStep: null,
    error: null,
    steps: null,
  }
  const total = () =>
    app.ctx.db.sqlite
      .query<{ n: number }, [string]>('SELECT count(*) AS n FROM pipeline_runs WHERE project_id = ?')
      .get(projectId)?.n
  for (let i = 0; i < 10_050; i++) recordRun(app.ctx, { ...run, startedAt: app.ctx.now() })
  flushRuns(app.ctx)
  removeOldRuns(app.ctx)
  expect(total()).toBe(10_000)
  app.advance(31 * 24 * 3600 * 1000)
  recordRun(app.ctx, { ...run, startedAt: app.ctx.now() })
  removeOldRuns(app.ctx)
  expect(total()).toBe(1)
})
