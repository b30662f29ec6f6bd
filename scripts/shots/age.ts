import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { openLogsDb } from '../../src/db/logs-db.ts'
import type { Observed } from '../../src/db/request-log/row.ts'
import { RequestLogStore } from '../../src/db/request-log/store.ts'
import { DAY_MS, HOUR_MS } from '../../src/domain/durations.ts'

const DAYS = 28

/** Makes what was filled in a moment look as if it had come about over weeks. The server must not run. */
export function age(dataDir: string): void {
  const db = new Database(join(dataDir, 'svc.db'), { strict: true })
  const projects = db.query<{ id: string; name: string }, []>('SELECT id, name FROM projects').all()
  db.transaction(() => {
    for (const [table, column, hours] of [
      ['deployments', 'created_at', 61],
      ['alias_history', 'moved_at', 61],
      ['records', 'created_at', 0.7],
      ['projects', 'created_at', 200],
      ['users', 'created_at', 150],
      ['api_keys', 'created_at', 300],
    ] as const)
      backwards(db, table, column, hours * HOUR_MS)
    for (const table of ['deployments', 'records', 'projects', 'users'])
      db.run(`UPDATE ${table} SET updated_at = created_at`)
    const week = Date.now() - 7 * DAY_MS
    db.run('UPDATE memberships SET joined_at = (SELECT created_at FROM users WHERE id = user_id)')
    db.run('UPDATE permissions SET granted_at = (SELECT created_at FROM users WHERE id = user_id)')
    db.query('UPDATE domains SET created_at = $week, updated_at = $week').run({ week })
    db.query('UPDATE group_permissions SET granted_at = $week').run({ week })
    db.query('UPDATE rule_sets SET synced_at = $week').run({ week })
    db.run('UPDATE aliases SET updated_at = (SELECT created_at FROM deployments WHERE id = deployment_id)')
  })()
  db.close()
  const logs = openLogsDb(join(dataDir, 'logs.db'))
  const store = new RequestLogStore(logs, true)
  for (let day = DAYS; day >= 0; day--)
    for (const { id, name } of projects) store.write(visitsOf(id, name, day))
  logs.close()
}

/** The newest row an hour ago, each one before it so much earlier. */
function backwards(db: Database, table: string, column: string, step: number): void {
  db.query(
    `UPDATE ${table} SET ${column} = aged.at FROM (
       SELECT rowid AS row, CAST($now - $first - (row_number() OVER (ORDER BY ${column} DESC, id DESC) - 1) * $step AS INTEGER) AS at
       FROM ${table}) AS aged WHERE ${table}.rowid = aged.row`,
  ).run({ now: Date.now(), first: HOUR_MS, step: Math.round(step) })
}

const PATHS = [
  '/',
  '/',
  '/',
  '/wall/',
  '/wall/',
  '/about.html',
  '/images/hut.svg',
  '/weather-old',
  '/api/weather',
]
const REFERRERS = [null, null, 'www.hikes.example', 'search.example', null, 'forum.example']
const AGENTS = ['Mozilla/5.0 (X11; Linux) Firefox/146.0', 'Mozilla/5.0 (iPhone) Safari/605', 'Googlebot/2.1']

/** The guestbook has a backend that fails now and then. */
function statusOf(name: string, path: string, n: number): number {
  if (path === '/weather-old') return 404
  if (name === 'guestbook' && path === '/api/weather') return n % 4 === 0 ? 502 : 200
  return n % 9 === 0 ? 304 : 200
}

/** More at weekends, and more for the guestbook than for the others. */
function visitsOf(projectId: string, name: string, daysAgo: number): Observed[] {
  const start = Date.now() - daysAgo * DAY_MS
  const isWeekend = [0, 6].includes(new Date(start).getUTCDay())
  const share = name === 'guestbook' ? 1 : 0.2 + name.length / 40
  const count = Math.round((isWeekend ? 130 : 70) * share * (1 + ((daysAgo * 13) % 7) / 10))
  return Array.from({ length: count }, (_, n) => {
    const path = PATHS[(n * 5 + daysAgo) % PATHS.length] ?? '/'
    return {
      ...{ at: start - ((n * 7919) % 60) * 60_000 * 10, projectId, method: 'GET', path },
      host: `production--${name}--acme.sites.example.com`,
      status: statusOf(name, path, n),
      durationMs: 0.4 + (n % 20) / 10,
      sizeBytes: 2400 + (n % 50) * 310,
      referrer: REFERRERS[n % REFERRERS.length] ?? null,
      linkedFrom: null,
      userAgent: AGENTS[n % 17 === 0 ? 2 : n % 2] ?? '',
      address: `192.0.2.${n % 90}`,
      isPage: !path.endsWith('.svg'),
      weight: 1,
    }
  }).sort((a, b) => a.at - b.at)
}
