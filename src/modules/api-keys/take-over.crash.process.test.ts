import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { type Db, openDb } from '../../db/open.ts'
import { hashToken } from '../../platform/tokens.ts'
import { rounds, seedOf } from '../../testing/rounds.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { makeDataDir, type ServerProcess, startServer } from '../../testing/server-process.ts'
import { cookieHeader, PASSWORD } from '../../testing/test-app.ts'
import { inspectDatabase } from '../deployments/check/queries.ts'

/** The real program is killed while admins are demoted and deleted: with each of them goes their key, or neither. */
const data = makeDataDir()
let server: ServerProcess | undefined
afterAll(async () => {
  server?.signal('SIGKILL')
  await server?.exited
  data.remove()
})

const ROOT = 'root@example.com'
const ENV = { ADMIN_EMAIL: ROOT, ADMIN_PASSWORD: PASSWORD, RATE_LIMIT_API: '0' }
const PEOPLE = 40
const MAX_WAIT_MS = 800

/** What is asked for the person `i`; with it, whom their key is to belong to, and why it is suspended. */
const WAYS = [
  { method: 'PATCH', query: '', json: { role: 'user' }, reason: 'maker_demoted' },
  { method: 'PATCH', query: '', json: { role: 'user', keys: 'take-over' }, reason: null },
  { method: 'DELETE', query: '', json: undefined, reason: 'maker_deleted' },
  { method: 'DELETE', query: '?keys=take-over', json: undefined, reason: null },
] as const
const wayOf = (i: number) => WAYS[i % WAYS.length] ?? WAYS[0]

test('kill -9 leaves no key of a person without the right to it, and none suspended without reason', async () => {
  const random = seededRandom(seedOf('keys and kill -9'))
  const count = rounds(3, 40)
  let asked = 0
  for (let round = 0; round < count; round++) {
    server = await startServer(data.path, ENV)
    const people = await addPeople(round)
    const cookie = await signIn(server)
    const acknowledged = new Set<number>()
    const sending = people.map(async (id, i) => {
      const { method, query, json } = wayOf(i)
      const answer = await send(`/api/users/${id}${query}`, method, cookie, json).catch(() => undefined)
      if (answer?.ok === true) acknowledged.add(i)
    })
    await Bun.sleep(random() * MAX_WAIT_MS)
    server.signal('SIGKILL')
    await Promise.all([...sending, server.exited])
    asked += acknowledged.size
    verify(people, acknowledged)
  }
  console.log(`${count} kills, ${asked} of ${count * PEOPLE} changes acknowledged before`)
}, 300_000)

const send = (path: string, method: string, cookie: string, json: unknown) =>
  fetch(`${server?.url}${path}`, {
    method,
    headers: { cookie, 'content-type': 'application/json' },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  })

async function signIn({ url }: ServerProcess): Promise<string> {
  const answer = await fetch(`${url}/api/auth/signin`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: ROOT, password: PASSWORD }),
  })
  expect(answer.status).toBe(200)
  return cookieHeader(answer)
}

/** Admins with a key each, written beside the server. */
async function addPeople(round: number): Promise<string[]> {
  const ids = Array.from({ length: PEOPLE }, (_, i) => `person-${round}-${i}`)
  withDb(({ sqlite }) =>
    sqlite.transaction(() => {
      const user = sqlite.query(
        "INSERT INTO users (id, email, password_hash, role, totp_secret, created_at, updated_at) VALUES (?1, ?1 || '@example.com', NULL, 'admin', NULL, 0, 0)",
      )
      const key = sqlite.query(
        `INSERT INTO api_keys (id, name, prefix, token_hash, is_global, created_by, created_at)
         VALUES ('key of ' || ?1, 'k', 'svc_', ?2, 1, ?1, 0)`,
      )
      for (const id of ids) {
        user.run(id)
        key.run(id, hashToken(id))
      }
    })(),
  )
  return ids
}

type Found = { role: string | null; maker: string | undefined; reason: string | null; entries: number }

function verify(people: readonly string[], acknowledged: ReadonlySet<number>): void {
  withDb((db) => {
    expect([...inspectDatabase(db)]).toEqual([])
    const root = db.sqlite
      .query<{ id: string }, [string]>('SELECT id FROM users WHERE email = ?')
      .get(ROOT)?.id
    const find = db.sqlite.query<Found, [string]>(
      `SELECT u.role, k.created_by AS maker, k.suspended_reason AS reason,
         (SELECT count(*) FROM audit_log WHERE target_id IN (?1, k.id)) AS entries
       FROM api_keys k LEFT JOIN users u ON u.id = ?1 WHERE k.id = 'key of ' || ?1`,
    )
    for (const [i, id] of people.entries()) {
      const { method, reason } = wayOf(i)
      const role = method === 'PATCH' ? 'user' : null
      const before = { role: 'admin', maker: id, reason: null, entries: 0 }
      const after = { role, maker: reason === null ? root : id, reason, entries: 2 }
      const found = find.get(id)
      expect(found).toEqual(acknowledged.has(i) || found?.role !== 'admin' ? after : before)
    }
  })
}

function withDb(work: (db: Db) => void): void {
  const db = openDb(join(data.path, 'svc.db'), Date.now())
  try {
    work(db)
  } finally {
    db.sqlite.close()
  }
}
