import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { callsTo, cookieOf, FIRST_ADMIN, signIn } from '../../testing/full-disk.ts'
import { publishTar, shaOf } from '../../testing/publish-tar.ts'
import { rounds, seedOf } from '../../testing/rounds.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { makeDataDir, runSvc, type ServerProcess, startServer } from '../../testing/server-process.ts'

/** The real program is killed while retention runs: what it leaves are whole deployments, and what is gone is in the audit log. */
const work = mkdtempSync(join(tmpdir(), 'svc-work-'))
const data = makeDataDir()
let server: ServerProcess | undefined
afterAll(async () => {
  server?.signal('SIGKILL')
  await server?.exited
  data.remove()
  rmSync(work, { recursive: true })
})

const random = seededRandom(seedOf('retention crash'))
const FILES = { 'index.html': 'live', 'a/1.txt': '1', 'a/2.txt': '2', 'b.txt': 'b' }
const COPIES = 800

const db = <T>(use: (sqlite: Database) => T): T => {
  const sqlite = new Database(join(data.path, 'svc.db'))
  try {
    return use(sqlite)
  } finally {
    sqlite.close()
  }
}

async function start(): Promise<ServerProcess> {
  server = await startServer(data.path, { ...FIRST_ADMIN, RETENTION_GRACE_MINUTES: '0', LOG_LEVEL: 'error' })
  return server
}

async function kill(): Promise<void> {
  server?.signal('SIGKILL')
  await server?.exited
}

/** Copies of the live deployment, all older. */
const addCopies = (round: number): void =>
  db((sqlite) => {
    sqlite.run('PRAGMA foreign_keys = ON')
    const live = sqlite.query('SELECT * FROM deployments ORDER BY created_at DESC LIMIT 1').get() as Row
    const assets = sqlite
      .query('SELECT * FROM assets WHERE deployment_id = ?')
      .all(String(live['id'])) as Row[]
    sqlite.transaction(() => {
      for (let i = 0; i < COPIES; i++) {
        const id = crypto.randomUUID()
        insert(sqlite, 'deployments', {
          ...live,
          id,
          number: 0,
          commit_sha: `${round.toString(16).padStart(8, '0')}${i.toString(16).padStart(32, '0')}`,
          created_at: Number(live['created_at']) - 1_000_000 + i,
          updated_at: Number(live['created_at']) - 1_000_000 + i,
        })
        for (const asset of assets)
          insert(sqlite, 'assets', { ...asset, id: crypto.randomUUID(), deployment_id: id })
      }
    })()
  })

type Row = Record<string, string | number | null>

function insert(sqlite: Database, table: string, row: Row): void {
  const names = Object.keys(row)
  const sql = `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`
  sqlite.query(sql).run(...Object.values(row))
}

const count = (sql: string): number =>
  db((sqlite) => sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${sql}`).get()?.n ?? -1)

test('kill -9 at any moment of a run leaves whole deployments', async () => {
  const first = await start()
  const key = (await runSvc(['key', 'create', 'test', '--data-dir', data.path])).stdout.trim()
  expect(await publishTar(work, first, key, 'site', shaOf(1), FILES)).toBe(true)
  const projectId = db((sqlite) => sqlite.query<{ id: string }, []>('SELECT id FROM projects').get()?.id)
  let made = 1
  for (let round = 0; round < rounds(3, 20); round++) {
    await kill()
    addCopies(round)
    made += COPIES
    const running = await start()
    const call = callsTo(running, cookieOf(await signIn(running)))
    await call('PUT', `/api/projects/${projectId}/retention`, { keepLast: 1 })
    const run = call('POST', `/api/projects/${projectId}/retention/run`, { dryRun: false }).catch(
      () => undefined,
    )
    await Bun.sleep(random() * 250)
    await kill()
    await run
    expect(count(`deployments d WHERE (SELECT count(*) FROM assets WHERE deployment_id = d.id) <> 4`)).toBe(0)
    expect(count('assets WHERE deployment_id NOT IN (SELECT id FROM deployments)')).toBe(0)
    expect(count('deployments') + count("audit_log WHERE action = 'deployment.delete'")).toBe(made)
    expect(count('aliases a JOIN deployments d ON d.id = a.deployment_id')).toBe(1)
  }
  const last = await start()
  const call = callsTo(last, cookieOf(await signIn(last)))
  expect((await call('POST', `/api/projects/${projectId}/retention/run`, { dryRun: false })).status).toBe(200)
  const shown = await fetch(`${last.url}/`, { headers: { host: 'live--site--acme.localhost' } })
  expect(await shown.text()).toBe('live')
  last.signal('SIGTERM')
  expect(await last.exited).toBe(0)
  expect(count('deployments')).toBe(1)
  expect(await runSvc(['check', '--data-dir', data.path])).toMatchObject({ code: 0 })
}, 3_600_000)
