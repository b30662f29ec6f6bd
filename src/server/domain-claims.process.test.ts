import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { migrations } from '../../migrations/index.ts'
import { migrate } from '../db/migrate.ts'
import { DAY_MS } from '../domain/durations.ts'
import { makeDataDir, runSvc, startServer } from '../testing/server-process.ts'
import { until } from '../testing/until.ts'

test('a directory of the version before, with unproven claims: it starts, serves, checks and clears away the old ones', async () => {
  const data = makeDataDir()
  const file = join(data.path, 'svc.db')
  const before = new Database(file, { create: true })
  const now = Date.now()
  migrate(
    before,
    now,
    migrations.filter(({ name }) => name < '0018'),
  )
  before.run(`INSERT INTO projects (id, owner, name, display_name, is_public, allow_public_signup, required_role, created_at, updated_at)
    VALUES ('p', 'acme', 'docs', 'docs', 1, 0, 'guest', 1, 1)`)
  const claim = (id: string, hostname: string, madeAt: number) =>
    before.run(
      "INSERT INTO domains (id, project_id, hostname, alias, challenge, created_at, updated_at) VALUES (?, 'p', ?, 'live', 'shown', ?, 1)",
      [id, hostname, madeAt],
    )
  claim('1', 'young.example', now - DAY_MS)
  claim('2', 'old.example', now - 31 * DAY_MS)
  before.close()

  const server = await startServer(data.path)
  const at = (host: string, path: string) => fetch(`${server.url}${path}`, { headers: { host } })
  expect((await at('young.example', '/')).status).toBe(421)
  expect(await (await at('young.example', '/.well-known/svc-challenge/shown')).text()).toBe('shown')
  const rows = new Database(file, { readonly: true })
  await until('the upkeep', () => rows.query('SELECT hostname FROM domains').values().length === 1)
  rows.close()
  expect((await at('old.example', '/')).status).toBe(404)
  expect((await at('young.example', '/')).status).toBe(421)
  const backup = join(data.path, 'all.tar')
  for (const args of [['check'], ['backup', backup]])
    expect((await runSvc([...args, '--data-dir', data.path])).code).toBe(0)
  server.signal('SIGTERM')
  expect(await server.exited).toBe(0)

  const copy = makeDataDir()
  expect((await runSvc(['restore', backup, '--data-dir', copy.path])).code).toBe(0)
  const restored = new Database(join(copy.path, 'svc.db'))
  expect(restored.query('SELECT hostname, challenge FROM domains').values()).toEqual([
    ['young.example', 'shown'],
  ])
  restored.close()
  expect(await Bun.file(join(copy.path, 'reserve')).exists()).toBe(false)
  for (const { remove } of [data, copy]) remove()
}, 60_000)
