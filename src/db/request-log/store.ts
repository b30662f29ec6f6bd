import type { Statement } from 'bun:sqlite'
import { botName } from '../../domain/bots.ts'
import { DAY_MS } from '../../domain/durations.ts'
import { newToken } from '../../platform/tokens.ts'
import { isDamaged, type LogsDb } from '../logs-db.ts'
import type { LoggedRequest, Observed } from './row.ts'
import { BatchSums, canonicalPathOf, type DayKind, startOf } from './sums.ts'

export const OTHERS = '(others)'
/** The most names per kind, project and day: requests for random paths must not fill the disk. */
const MAX_NAMES = 1000
/** The most pairs of a missing path and who links there, per project and day. */
const MAX_LINKS = 2000
/** Of the path in a row. */
const MAX_PATH = 1000

type Bound = string | number | null
type Run = Statement<unknown, Bound[]>
type Statements = {
  insert: Run
  hour: Run
  bump: Run
  name: Run
  visitor: Run
  bumpLink: Run
  link: Run
}

/** Writes rows and updates the sums, in one transaction per batch. */
export class RequestLogStore {
  readonly #db: LogsDb
  readonly #keepsRows: boolean
  #statements: Statements | undefined
  #lastId: number | undefined
  #salt: { day: number; salt: string } | undefined
  /** The number of names of each kind and day: today and, around midnight, yesterday. */
  #names = new Map<string, number>()

  constructor(db: LogsDb, keepsRows: boolean) {
    this.#db = db
    this.#keepsRows = keepsRows
  }

  /** Writes all rows or none. Replaces a damaged file first and retries once. */
  write(rows: readonly Observed[]): LoggedRequest[] {
    try {
      return this.#writeAll(rows)
    } catch (error) {
      this.#forget()
      if (!isDamaged(error)) throw error
      this.#db.replace()
      return this.#writeAll(rows)
    }
  }

  #writeAll(rows: readonly Observed[]): LoggedRequest[] {
    const sums = new BatchSums()
    const { sqlite } = this.#db
    return sqlite
      .transaction(() => {
        const logged = rows.map((row) => this.#writeOne(row, sums))
        for (const hour of sums.hours()) this.#prepared.hour.run(...hour)
        for (const name of sums.names()) this.#addName(...name)
        for (const link of sums.links()) this.#addLink(...link)
        return logged
      })
      .immediate()
  }

  #writeOne(row: Observed, sums: BatchSums): LoggedRequest {
    const { address, canonicalPath: _path, isPage, linkedFrom: _from, ...seen } = row
    const bot = botName(row.userAgent)
    const day = startOf(row.at, DAY_MS)
    const visitor = bot === null ? this.#visitorOf(day, row) : null
    const isView = isPage && bot === null && isShown(row)
    const logged: LoggedRequest = { ...seen, path: row.path.slice(0, MAX_PATH), id: 0, bot, visitor }
    if (this.#keepsRows) logged.id = this.#insert(logged, canonicalPathOf(row))
    sums.add(row, bot, isView, isView && visitor !== null && this.#isNew(day, row, visitor))
    return logged
  }

  #insert(row: LoggedRequest, canonicalPath: string): number {
    this.#lastId ??= this.#findLastId()
    this.#lastId += 1
    this.#prepared.insert.run(
      this.#lastId,
      row.at,
      row.projectId,
      row.method,
      row.host,
      row.path,
      row.status,
      Math.round(row.durationMs * 1000),
      row.sizeBytes,
      row.referrer,
      row.userAgent,
      row.bot,
      row.visitor,
      row.weight,
      canonicalPath === row.path ? null : canonicalPath.slice(0, MAX_PATH),
    )
    return this.#lastId
  }

  #findLastId(): number {
    const found = this.#db.sqlite.query<{ id: number | null }, []>('SELECT max(id) AS id FROM requests').get()
    return found?.id ?? 0
  }

  #addName(project: string, day: number, kind: DayKind, name: string, count: number): void {
    if (this.#prepared.bump.run(count, project, day, kind, name).changes > 0) return
    const key = `${day} ${kind} ${project}`
    const names = this.#names.get(key) ?? this.#countNames(project, day, kind)
    const isFull = names >= MAX_NAMES
    this.#names.set(key, names + 1)
    this.#prepared.name.run(project, day, kind, isFull ? OTHERS : name, count)
  }

  /** Above the limit, links that were not seen today are not counted. */
  #addLink(project: string, day: number, path: string, from: string, count: number): void {
    if (this.#prepared.bumpLink.run(count, project, day, path, from).changes > 0) return
    const key = `${day} links ${project}`
    const links = this.#names.get(key) ?? this.#countLinks(project, day)
    if (links < MAX_LINKS) this.#prepared.link.run(project, day, path, from, count)
    this.#names.set(key, Math.min(links + 1, MAX_LINKS))
  }

  #countLinks(project: string, day: number): number {
    const found = this.#db.sqlite
      .query<{ n: number }, [string, number]>(
        'SELECT count(*) AS n FROM links WHERE project_id = ? AND day = ?',
      )
      .get(project, day)
    return found?.n ?? 0
  }

  #countNames(project: string, day: number, kind: DayKind): number {
    if (this.#names.size > 10_000) this.#names.clear()
    const found = this.#db.sqlite
      .query<{ n: number }, [string, number, string]>(
        'SELECT count(*) AS n FROM days WHERE project_id = ? AND day = ? AND kind = ?',
      )
      .get(project, day, kind)
    return found?.n ?? 0
  }

  #isNew(day: number, { projectId }: Observed, visitor: string): boolean {
    return this.#prepared.visitor.run(day, projectId ?? '', visitor).changes > 0
  }

  /**
   * A daily hash: visitors cannot be linked across days, nor addresses recovered, because the salt of the day is
   * discarded.
   */
  #visitorOf(day: number, { projectId, address, userAgent }: Observed): string {
    const salt = this.#saltOf(day)
    return new Bun.CryptoHasher('sha256')
      .update(`${salt}\n${projectId ?? ''}\n${address}\n${userAgent}`)
      .digest('hex')
      .slice(0, 16)
  }

  #saltOf(day: number): string {
    if (this.#salt?.day === day) return this.#salt.salt
    const { sqlite } = this.#db
    forgetSalts(this.#db, day)
    sqlite.query('INSERT OR IGNORE INTO salts VALUES (?, ?)').run(day, newToken())
    const found = sqlite.query<{ salt: string }, [number]>('SELECT salt FROM salts WHERE day = ?').get(day)
    const salt = found?.salt ?? newToken()
    this.#salt = { day, salt }
    return salt
  }

  get #prepared(): Statements {
    this.#statements ??= prepare(this.#db)
    return this.#statements
  }

  /** Clears what belongs to a rolled-back transaction or to a replaced file. */
  #forget(): void {
    this.#statements = undefined
    this.#lastId = undefined
    this.#salt = undefined
    this.#names.clear()
  }
}

/** Removes the salts of earlier days: from then on, nothing leads from a hash to a visitor. */
export function forgetSalts({ sqlite }: LogsDb, before: number): void {
  sqlite.query('DELETE FROM salts WHERE day < ?').run(before)
}

/** Deletes up to `limit` hashes of earlier days; returns how many. */
export function deleteVisitors({ sqlite }: LogsDb, before: number, limit: number): number {
  return sqlite
    .query(
      `DELETE FROM visitors WHERE (day, project_id, visitor) IN
         (SELECT day, project_id, visitor FROM visitors WHERE day < ? LIMIT ?)`,
    )
    .run(before, limit).changes
}

/** The content was sent, or the browser already had it. */
const isShown = ({ method, status }: Observed): boolean =>
  method === 'GET' && ((status >= 200 && status < 300) || status === 304)

function prepare({ sqlite }: LogsDb): Statements {
  return {
    insert: sqlite.prepare(
      `INSERT INTO requests (id, at, project_id, method, host, path, status, duration_us, size_bytes, referrer,
         user_agent, bot, visitor, weight, canonical_path)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    hour: sqlite.prepare(
      `INSERT INTO hours VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (project_id, hour) DO UPDATE SET requests = requests + excluded.requests, bots = bots + excluded.bots,
         bytes = bytes + excluded.bytes, views = views + excluded.views, visitors = visitors + excluded.visitors,
         not_found = not_found + excluded.not_found, errors = errors + excluded.errors`,
    ),
    bump: sqlite.prepare(
      'UPDATE days SET count = count + ? WHERE project_id = ? AND day = ? AND kind = ? AND name = ?',
    ),
    name: sqlite.prepare(
      `INSERT INTO days VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (project_id, day, kind, name) DO UPDATE SET count = count + excluded.count`,
    ),
    bumpLink: sqlite.prepare(
      'UPDATE links SET count = count + ? WHERE project_id = ? AND day = ? AND path = ? AND linked_from = ?',
    ),
    link: sqlite.prepare('INSERT INTO links VALUES (?, ?, ?, ?, ?)'),
    visitor: sqlite.prepare('INSERT OR IGNORE INTO visitors VALUES (?, ?, ?)'),
  }
}
