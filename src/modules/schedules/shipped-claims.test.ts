import { afterAll, beforeAll, expect, test } from 'bun:test'
import { MINUTE_MS } from '../../domain/durations.ts'
import { seedDeployment } from '../../testing/seed.ts'
import { type StoreApp, storeApp } from '../../testing/store-app.ts'
import { until } from '../../testing/until.ts'
import { clockOf } from './clock.ts'
import { scheduleDuty } from './duty.ts'

/** With `STORE_URL`: another machine that takes over must know of every run that has begun. */
let app: StoreApp
beforeAll(async () => {
  app = await storeApp()
})
afterAll(() => app.close())

test('a run begins when its claim is in the object store, and not before', async () => {
  const { ctx } = app
  const files = { 'index.html': 'x' }
  const { projectId } = await seedDeployment(app, { owner: 'acme', repo: 'site', sha: 'a'.repeat(40), files })
  const { sqlite } = ctx.db
  sqlite.run(
    `INSERT INTO proxy_rules (id, project_id, path_pattern, method, proxy_type, target_url, strip_prefix, rule_order, timeout_ms,
       preserve_host, forward_cookies, is_enabled, debug_enabled, pipeline_config, created_at, updated_at)
     VALUES ('r', ?, '/api/x', 'POST', 'pipeline', '', 1, 0, 30000, 0, 0, 1, 0, '{"steps":[]}', 0, 0)`,
    [projectId],
  )
  sqlite.run(
    `INSERT INTO schedules (id, project_id, rule_id, method, name, cron, timezone, is_enabled, catch_up, is_pushed, next_run_at,
       created_at, updated_at) VALUES ('s', ?, 'r', 'POST', 's', '* * * * *', 'UTC', 1, 'none', 0, ?, 0, 0)`,
    [projectId, ctx.now() + MINUTE_MS],
  )
  const begun: string[] = []
  Object.assign(scheduleDuty(ctx), {
    isOn: true,
    perform: async ({ id }: { id: string }) => {
      begun.push(id)
      return { status: 'ok', error: null }
    },
  })
  await clockOf(ctx).start()
  app.log.state = 'held'
  app.advance(MINUTE_MS)
  const firing = clockOf(ctx).start()
  const isClaimed = () => sqlite.query('SELECT 1 FROM schedules WHERE fired_at IS NOT NULL').get() !== null
  await until('the claim is committed', isClaimed)
  expect(begun).toEqual([])
  app.log.state = 'up'
  app.log.settle()
  await firing
  expect(begun).toEqual(['s'])
  scheduleDuty(ctx).isOn = false
  await clockOf(ctx).stop()
})
