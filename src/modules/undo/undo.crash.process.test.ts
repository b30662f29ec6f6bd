import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { publishTar, shaOf } from '../../testing/publish-tar.ts'
import { rounds } from '../../testing/rounds.ts'
import { makeDataDir, runSvc, startServer } from '../../testing/server-process.ts'
import { until } from '../../testing/until.ts'

/** The real program is killed while an alias moves and is moved back. contract 17.9. */
const work = mkdtempSync(join(tmpdir(), 'svc-work-'))
afterAll(() => rmSync(work, { recursive: true }))

const ENV = { RATE_LIMIT_API: '0', RATE_LIMIT_UPLOAD: '0' }

/** What a change writes is there as a whole or not at all. Returns the entries of changes that can be undone, the newest first. */
function entriesIn(dataDir: string): string[] {
  const db = new Database(join(dataDir, 'svc.db'), { readwrite: true })
  const count = (sql: string) => db.query<{ n: number }, []>(sql).get()?.n
  const entries = db
    .query<{ id: string }, []>(
      `SELECT id FROM audit_log WHERE action IN ('alias.move', 'undo') AND coalesce(after ->> 'reason', '') <> 'publish' ORDER BY rowid DESC`,
    )
    .all()
    .map(({ id }) => id)
  expect(count('SELECT count(*) AS n FROM undo_states')).toBe(entries.length)
  expect(count("SELECT count(*) AS n FROM alias_history WHERE reason = 'move'")).toBe(entries.length)
  const strays = 'SELECT count(*) AS n FROM undo_states WHERE entry_id NOT IN (SELECT id FROM audit_log)'
  expect(count(strays)).toBe(0)
  db.close()
  return entries
}

test('kill -9 between a change and its answer: what is there can be undone', async () => {
  const data = makeDataDir()
  const admin = { ADMIN_EMAIL: 'root@example.com', ADMIN_PASSWORD: 'correct horse battery' }
  let running = await startServer(data.path, { ...ENV, ...admin })
  const key = (await runSvc(['key', 'create', 'test', '--data-dir', data.path])).stdout.trim()
  const send = async (method: string, path: string, json?: unknown) => {
    const headers = { 'x-api-key': key, 'content-type': 'application/json' }
    const body = json === undefined ? null : JSON.stringify(json)
    const answer = await fetch(`${running.url}${path}`, { method, headers, body })
    return { change: answer.headers.get('x-svc-change'), status: answer.status, body: await answer.json() }
  }
  for (const i of [1, 2]) await publishTar(work, running, key, 'crash', shaOf(i), { 'index.html': `${i}` })
  const alias = (await send('GET', '/api/aliases?name=live')).body.data[0].id
  const deployments = (await send('GET', '/api/deployments')).body.data.map(({ id }: { id: string }) => id)

  for (let round = 0; round < rounds(2, 30); round += 1) {
    const answered: string[] = []
    const changing = (async () => {
      for (let i = 0; ; i += 1) {
        const moved = await send('PATCH', `/api/aliases/${alias}`, { deploymentId: deployments[i % 2] })
        if (moved.change === null) continue
        answered.push(moved.change)
        const undone = await send('POST', `/api/audit/${moved.change}/undo`)
        if (undone.change !== null) answered.push(undone.change)
      }
    })().catch(() => undefined)
    await until('the first change', () => answered.length > 0)
    await Bun.sleep((round * 37) % 100)
    running.signal('SIGKILL')
    await Promise.all([changing, running.exited])
    const entries = entriesIn(data.path)
    expect(entries).toEqual(expect.arrayContaining(answered))
    running = await startServer(data.path, ENV)
    const [newest = ''] = entries
    expect((await send('POST', `/api/audit/${newest}/undo`)).status).toBe(200)
    expect((await send('POST', `/api/audit/${newest}/undo`)).body.error).toBe('ALREADY_UNDONE')
  }
  running.signal('SIGTERM')
  expect(await running.exited).toBe(0)
  expect(await runSvc(['check', '--data-dir', data.path])).toMatchObject({ code: 0 })
  data.remove()
}, 3_600_000)
