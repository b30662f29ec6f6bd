import { afterAll, beforeEach, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DAY_MS } from '../domain/durations.ts'
import { createLog } from '../platform/log.ts'
import { type LogsDb, openLogsDb } from './logs-db.ts'
import type { LoggedRequest, Observed } from './request-log/row.ts'
import { deleteVisitors, forgetSalts, OTHERS } from './request-log/store.ts'
import { RequestLog } from './request-log.ts'

const root = mkdtempSync(join(tmpdir(), 'svc-request-log-'))
afterAll(() => rmSync(root, { recursive: true }))

const NOON = Date.parse('2026-11-20T12:00:00.000Z')
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0'
const ROW: Observed = {
  at: NOON,
  projectId: 'p',
  method: 'GET',
  host: 'docs.example.com',
  path: '/',
  status: 200,
  durationMs: 0.4,
  sizeBytes: 1000,
  referrer: null,
  linkedFrom: null,
  userAgent: FIREFOX,
  address: '203.0.113.77',
  isPage: true,
  weight: 1,
}

let file = ''
let lines: string[] = []
beforeEach(() => {
  file = join(mkdtempSync(join(root, 'one-')), 'logs.db')
  lines = []
})

function open(db: LogsDb = openLogsDb(file), keepsRows = true): RequestLog {
  const write = (line: string) => void lines.push(line)
  const log = createLog({ level: 'error', format: 'json', now: () => NOON, write })
  return new RequestLog({ db, log, keepsRows })
}

const all = <T>(log: RequestLog, sql: string) => log.db.sqlite.query<T, []>(sql).all()

test('the database is opened with the first write', () => {
  const log = open()
  log.weigh(200, 0)
  log.close()
  expect(existsSync(file)).toBe(false)
})

test('rows are written sooner while somebody watches', async () => {
  const nobodys = open(openLogsDb(`${file}.nobodys`))
  nobodys.take({ ...ROW })
  const log = open()
  log.take({ ...ROW })
  log.flush()
  const heard = new Promise((resolve) => log.listen(resolve))
  log.take({ ...ROW, path: '/watched' })
  expect(await heard).toMatchObject([{ path: '/watched' }])
  expect(all(nobodys, 'SELECT * FROM requests')).toEqual([])
  nobodys.close()
  log.close()
})

test('a row is stored without its address, and passed to listeners', () => {
  const log = open()
  const heard: LoggedRequest[] = []
  const stop = log.listen((rows) => heard.push(...rows))
  log.take({ ...ROW })
  log.flush()
  stop()
  log.take({ ...ROW, userAgent: 'curl/8', path: '/x' })
  log.flush()
  expect(heard).toHaveLength(1)
  expect(heard[0]).toMatchObject({
    id: 1,
    path: '/',
    bot: null,
    visitor: expect.stringMatching(/^[0-9a-f]{16}$/),
  })
  expect(all(log, 'SELECT path, bot, visitor, duration_us FROM requests')).toEqual([
    { path: '/', bot: null, visitor: heard[0]?.visitor, duration_us: 400 },
    { path: '/x', bot: 'curl', visitor: null, duration_us: 400 },
  ])
  log.close()
  for (const name of readdirSync(join(file, '..')))
    expect(readFileSync(join(file, '..', name)).includes(ROW.address)).toBe(false)
})

test('a visitor counts once per day and project, and cannot be tracked to the next day', () => {
  const log = open()
  const seen = (row: Partial<Observed>): string | null => {
    let visitor: string | null = null
    const stop = log.listen(([logged]) => {
      visitor = logged?.visitor ?? null
    })
    log.take({ ...ROW, ...row })
    log.flush()
    stop()
    return visitor
  }
  const first = seen({})
  expect(seen({ path: '/more' })).toBe(first)
  expect(seen({ projectId: 'q' })).not.toBe(first)
  expect(seen({ address: '203.0.113.78' })).not.toBe(first)
  const salts = all<{ salt: string }>(log, 'SELECT salt FROM salts')
  expect(salts).toHaveLength(1)
  expect(seen({ at: NOON + DAY_MS })).not.toBe(first)
  expect(all(log, 'SELECT salt FROM salts')).not.toContainEqual(salts[0])
  expect(all(log, 'SELECT project_id, sum(visitors) AS n FROM hours GROUP BY project_id')).toEqual([
    { project_id: 'p', n: 3 },
    { project_id: 'q', n: 1 },
  ])
  forgetSalts(log.db, NOON + 2 * DAY_MS)
  expect(deleteVisitors(log.db, NOON + 2 * DAY_MS, 1)).toBe(1)
  deleteVisitors(log.db, NOON + 2 * DAY_MS, 100)
  expect(all(log, 'SELECT * FROM salts UNION ALL SELECT day, visitor FROM visitors')).toEqual([])
  log.close()
})

test('the visitors of the day survive a restart', () => {
  for (let i = 0; i < 2; i++) {
    const log = open()
    log.take({ ...ROW })
    log.close()
  }
  const log = open()
  expect(all(log, 'SELECT views, visitors, requests, bytes FROM hours')).toEqual([
    { views: 2, visitors: 1, requests: 2, bytes: 2000 },
  ])
  log.close()
})

const counted: [what: string, row: Partial<Observed>, sums: object, names: object[]][] = [
  [
    'a page',
    { referrer: 'news.example' },
    { requests: 1, views: 1, visitors: 1, bots: 0, not_found: 0, errors: 0 },
    [
      { kind: 'page', name: '/' },
      { kind: 'referrer', name: 'news.example' },
      { kind: 'status', name: '200' },
    ],
  ],
  [
    'a page that the browser had',
    { status: 304, sizeBytes: 0 },
    { views: 1, bytes: 0 },
    [
      { kind: 'page', name: '/' },
      { kind: 'status', name: '304' },
    ],
  ],
  [
    'a part of a page',
    { isPage: false },
    { requests: 1, views: 0, visitors: 0, bytes: 1000 },
    [{ kind: 'status', name: '200' }],
  ],
  [
    'a bot',
    { userAgent: 'Googlebot/2.1' },
    { requests: 1, views: 0, visitors: 0, bots: 1 },
    [
      { kind: 'bot', name: 'googlebot' },
      { kind: 'status', name: '200' },
    ],
  ],
  [
    'a missing page',
    { status: 404, path: '/gone' },
    { views: 0, not_found: 1 },
    [
      { kind: 'missing', name: '/gone' },
      { kind: 'status', name: '404' },
    ],
  ],
  [
    'a page that a bot did not find',
    { status: 404, userAgent: 'curl/8' },
    { bots: 1, not_found: 1 },
    [
      { kind: 'bot', name: 'curl' },
      { kind: 'status', name: '404' },
    ],
  ],
  ['a failure', { status: 502, isPage: true }, { views: 0, errors: 1 }, [{ kind: 'status', name: '502' }]],
  ['a form that is sent', { method: 'POST' }, { requests: 1, views: 0 }, [{ kind: 'status', name: '200' }]],
  [
    'one of eight',
    { weight: 8 },
    { requests: 8, views: 8, visitors: 1, bytes: 8000 },
    [
      { kind: 'page', name: '/' },
      { kind: 'status', name: '200' },
    ],
  ],
]

test.each(counted)('%s is counted', (_what, row, sums, names) => {
  const log = open(openLogsDb(file), false)
  log.take({ ...ROW, ...row })
  log.flush()
  expect(all(log, 'SELECT * FROM hours')).toMatchObject([{ project_id: 'p', hour: NOON, ...sums }])
  expect(all(log, 'SELECT kind, name FROM days ORDER BY kind, name')).toEqual(names)
  expect(all(log, 'SELECT * FROM requests')).toEqual([])
  log.close()
})

test('names above the limit are counted together', () => {
  const log = open()
  for (let i = 0; i < 1200; i++) log.take({ ...ROW, path: `/${i}`, status: 404 })
  log.take({ ...ROW, path: '/1', status: 404 })
  log.flush()
  const found = all<{ name: string; count: number }>(
    log,
    "SELECT name, count FROM days WHERE kind = 'missing'",
  )
  expect(found).toHaveLength(1001)
  expect(found).toContainEqual({ name: OTHERS, count: 200 })
  expect(found).toContainEqual({ name: '/1', count: 2 })
  log.close()
})

test('in a flood requests are sampled, and the sums stay right', () => {
  const log = open()
  const send = (count: number, at: number, status = 200): void => {
    for (let i = 0; i < count; i++) {
      const weight = log.weigh(status, at)
      if (weight > 0) log.take({ ...ROW, status, weight })
    }
    log.flush()
  }
  const rows = () => all<{ n: number }>(log, 'SELECT count(*) AS n FROM requests')[0]?.n
  send(2000, 10)
  expect(rows()).toBe(2000)
  send(50_000, 500)
  expect(rows()).toBeLessThan(2100)
  const before = rows() ?? 0
  send(150, 1510)
  expect((rows() ?? 0) - before).toBe(150)
  const [sums] = all<{ requests: number }>(log, 'SELECT requests FROM hours')
  expect(Math.abs((sums?.requests ?? 0) - 52_150)).toBeLessThan(4096)
  expect(log.counts()).toMatchObject({ statuses: new Map([[200, 52_150]]), dropped: 0 })
  log.close()
})

test('the weight of the last row of a second is reduced by the requests that did not come', () => {
  const log = open()
  for (let i = 0; i < 2003; i++) {
    const weight = log.weigh(200, 0)
    if (weight > 0) log.take({ ...ROW, weight })
  }
  log.take({ ...ROW, weight: log.weigh(200, 5000) })
  log.flush()
  expect(all(log, 'SELECT requests FROM hours')).toEqual([{ requests: 2004 }])
  log.close()
})

test('rows that exceed the queue are dropped and counted', () => {
  const log = open()
  for (let i = 0; i < 10_005; i++) log.take({ ...ROW })
  expect(log.counts().dropped).toBe(5)
  log.close()
})

test('a database that cannot be written loses rows and logs one line, but fails no request', () => {
  const log = open(openLogsDb(join(root, 'no-such-folder', 'logs.db')))
  for (let i = 0; i < 3; i++) {
    log.take({ ...ROW, weight: 8 })
    log.flush()
  }
  expect(log.counts().dropped).toBe(24)
  expect(lines).toHaveLength(1)
  expect(lines[0]).toContain('the request log could not be written')
  log.close()
})

test('a file that is not a database is moved aside', () => {
  writeFileSync(file, 'this is no database, and long enough to be told from an empty one'.repeat(100))
  const log = open()
  log.take({ ...ROW })
  log.flush()
  expect(all(log, 'SELECT path FROM requests')).toEqual([{ path: '/' }])
  expect(existsSync(`${file}.damaged`)).toBe(true)
  expect(lines).toEqual([])
  log.close()
})

test('rows of another machine are written and not counted as requests, as far as there is room', () => {
  const log = open()
  const own: unknown[] = []
  const stop = log.handOver((rows) => own.push(...rows))
  log.take({ ...ROW, path: '/own' })
  log.flush()
  expect(own).toMatchObject([{ path: '/own' }])
  stop()
  log.receive(Array.from({ length: 10_003 }, () => ({ ...ROW, weight: 2 })))
  const { dropped, durations } = log.counts()
  expect([dropped, durations.reduce((sum, count) => sum + count)]).toEqual([6, 1])
  log.flush()
  expect(all(log, 'SELECT count(*) AS n FROM requests')).toEqual([{ n: 10_001 }])
  expect(all(log, 'SELECT sum(requests) AS n FROM hours')).toEqual([{ n: 20_001 }])
  expect(own).toHaveLength(1)
  log.close()
})

test('a locked log database does not block requests', () => {
  const log = open()
  log.take({ ...ROW })
  log.flush()
  const other = openLogsDb(file)
  other.sqlite.run('BEGIN IMMEDIATE')
  log.take({ ...ROW })
  log.flush()
  other.sqlite.run('COMMIT')
  log.flush()
  expect(all(log, 'SELECT count(*) AS n FROM requests')).toEqual([{ n: 2 }])
  other.close()
  log.close()
})
