import { afterEach, beforeEach, expect, test } from 'bun:test'
import { ask } from '../../testing/ask.ts'
import { type RetentionApp, ROOT, retentionApp } from './retention.fixture.ts'

let docs: RetentionApp
beforeEach(async () => {
  docs = await retentionApp()
})
afterEach(() => docs.app.close())

const aliasId = () =>
  docs.app.ctx.db.sqlite.query<{ id: string }, []>("SELECT id FROM aliases WHERE name = 'live'").get()?.id

test('an alias that moves to what is about to go: one of the two wins whole', async () => {
  await docs.publish({ 'a.txt': 'live' }, 'live')
  const ids = docs.addEmpty(250)
  await docs.call('PUT', '/retention', { keepLast: 1 })
  const moves = async () => {
    const results: [id: string, status: number][] = []
    for (const id of ids.filter((_, i) => i % 10 === 0)) {
      const { status } = await ask(docs.app, 'PATCH', `/api/aliases/${aliasId()}`, {
        as: ROOT,
        json: { deploymentId: id },
      })
      results.push([id, status])
      await Bun.sleep(1)
    }
    return results
  }
  const [run, moved] = await Promise.all([docs.run({ dryRun: false }), moves()])
  const { sqlite } = docs.app.ctx.db
  const shown = sqlite.query<{ id: string }, []>('SELECT deployment_id AS id FROM aliases').get()?.id
  const last = moved.findLast(([, status]) => status === 200)
  if (last !== undefined) expect(shown).toBe(last[0])
  expect(docs.ids()).toContain(String(shown))
  expect(sqlite.query('PRAGMA foreign_key_check').all()).toEqual([])
  for (const [, status] of moved) expect([200, 404]).toContain(status)
  const kept = Object.values(run.kept).reduce((sum, count) => sum + count, 0)
  expect(run.removedCount + kept).toBe(251)
  expect(docs.ids()).toHaveLength(251 - run.removedCount)
})

test('two runs at once remove each deployment once', async () => {
  docs.addEmpty(30)
  await docs.call('PUT', '/retention', { keepLast: 5 })
  const runs = await Promise.all([docs.run({ dryRun: false }), docs.run({ dryRun: false })])
  expect(runs.map(({ removedCount }) => removedCount).sort((a, b) => a - b)).toEqual([0, 25])
})

test('rules that are turned off during a run end it', async () => {
  docs.addEmpty(350)
  await docs.call('PUT', '/retention', { keepLast: 1 })
  const running = docs.run({ dryRun: false })
  await docs.call('PUT', '/retention', { keepLast: null })
  const run = await running
  expect(run.removedCount).toBeLessThan(349)
  expect(docs.ids()).toHaveLength(350 - run.removedCount)
})

test('whoever loses the role during a run removes no more, and what is gone is in the audit log', async () => {
  const userId = await docs.app.addUser('adam@example.com')
  await docs.call('POST', '/permissions/users', { userId, role: 'admin' })
  docs.addEmpty(350)
  await docs.call('PUT', '/retention', { keepLast: 1 })
  const running = ask(docs.app, 'POST', `/api/projects/${docs.projectId}/retention/run`, {
    as: 'adam@example.com',
    json: { dryRun: false },
  })
  await docs.app.cookieOf('adam@example.com')
  while (docs.ids().length === 350) await Bun.sleep(1)
  await docs.call('DELETE', `/permissions/users/${userId}`)
  expect([403, 404]).toContain((await running).status)
  expect(docs.ids().length).toBeGreaterThan(1)
  const { body } = await docs.call('GET', '/retention')
  expect(body['lastRun']).toMatchObject({ removedCount: 350 - docs.ids().length })
})
