import { Database } from 'bun:sqlite'
import { existsSync, renameSync, rmSync } from 'node:fs'
import { handOverNew } from '../platform/owner.ts'
import { checkpointApart, isDue } from './checkpoint.ts'
import { type DatabaseFile, watchFile } from './database-file.ts'

/**
 * The database of the request log and its statistics. It is a separate file, so that it can never block the main one.
 * Nothing in it is precious: an unreadable file is set aside and replaced by a new one.
 */
export type LogsDb = {
  /** Opened, and created if needed, on first use. */
  readonly sqlite: Database
  /** Copies recent writes into the file and syncs it, on another thread. Never rejects. */
  checkpoint(): Promise<void>
  /** The same if there is much to copy; runs in the background. */
  checkpointWhenDue(): void
  /** Renames the file to `<file>.damaged` and starts a new one. */
  replace(): void
  close(): void
}

type Opened = { sqlite: Database; file: DatabaseFile }

/** Append-only, like the main database's migrations; `user_version` holds the number applied. */
const MIGRATIONS: readonly string[] = [
  `
  -- One row a request, or for \`weight\` of them where too many came in one second. No address, no query, no cookie.
  CREATE TABLE requests (
    id          INTEGER PRIMARY KEY,
    at          INTEGER NOT NULL,
    project_id  TEXT,
    method      TEXT NOT NULL,
    host        TEXT NOT NULL,
    path        TEXT NOT NULL,
    status      INTEGER NOT NULL,
    duration_us INTEGER NOT NULL,
    size_bytes  INTEGER,
    referrer    TEXT,
    user_agent  TEXT NOT NULL,
    bot         TEXT,
    visitor     TEXT,
    weight      INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX requests_at ON requests (at);
  CREATE INDEX requests_project ON requests (project_id, at);

  -- Sums by hour. \`project_id\` is '' for what belongs to no project, such as the admin.
  CREATE TABLE hours (
    project_id TEXT NOT NULL,
    hour       INTEGER NOT NULL,
    requests   INTEGER NOT NULL,
    bots       INTEGER NOT NULL,
    bytes      INTEGER NOT NULL,
    views      INTEGER NOT NULL,
    visitors   INTEGER NOT NULL,
    not_found  INTEGER NOT NULL,
    errors     INTEGER NOT NULL,
    PRIMARY KEY (project_id, hour)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX hours_hour ON hours (hour);

  -- What was asked for, from where, with which outcome, by day.
  CREATE TABLE days (
    project_id TEXT NOT NULL,
    day        INTEGER NOT NULL,
    kind       TEXT NOT NULL CHECK (kind IN ('page', 'referrer', 'status', 'missing', 'bot')),
    name       TEXT NOT NULL,
    count      INTEGER NOT NULL,
    PRIMARY KEY (project_id, day, kind, name)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX days_day ON days (day);

  -- Who was seen today, as hashes with today's salt. Both go when the day is over.
  CREATE TABLE visitors (
    day        INTEGER NOT NULL,
    project_id TEXT NOT NULL,
    visitor    TEXT NOT NULL,
    PRIMARY KEY (day, project_id, visitor)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE salts (day INTEGER PRIMARY KEY, salt TEXT NOT NULL) STRICT;
  `,
  `
  -- With what is read of them, so that long spans are summed up and requests are filtered by time in the index alone.
  DROP INDEX hours_hour;
  CREATE INDEX hours_hour ON hours (hour, project_id, views, visitors, requests, bots, bytes, not_found, errors);
  CREATE INDEX days_kind ON days (kind, day, name, count) WHERE kind = 'status' OR kind = 'bot';
  -- Requests are listed by id.
  DROP INDEX requests_project;
  CREATE INDEX requests_project ON requests (project_id, id, at);
  `,
  `
  -- Who links to what is missing, by day: the path of a page of the project, or the host of another site.
  CREATE TABLE links (
    project_id  TEXT NOT NULL,
    day         INTEGER NOT NULL,
    path        TEXT NOT NULL,
    linked_from TEXT NOT NULL,
    count       INTEGER NOT NULL,
    PRIMARY KEY (project_id, day, path, linked_from)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- What the paths of failures are grouped by; null where it is the path.
  ALTER TABLE requests ADD COLUMN canonical_path TEXT;
  CREATE INDEX requests_failed ON requests (project_id, at) WHERE status >= 400;
  `,
]

/** `file` may be `:memory:`. Does not open anything yet. */
export function openLogsDb(file: string): LogsDb {
  let opened: Opened | undefined
  let checkpointing: Promise<void> | undefined
  const close = (): void => {
    // Closing copies the rest of the log into the file, which must be on the disk before the log is deleted.
    opened?.sqlite.run('PRAGMA synchronous = NORMAL')
    opened?.sqlite.close()
    opened = undefined
  }
  const replace = (): void => {
    close()
    putAside(file)
    opened = open(file)
  }
  return {
    get sqlite() {
      if (opened === undefined) {
        try {
          opened = open(file)
        } catch (error) {
          if (!isDamaged(error)) throw error
          replace()
        }
      }
      return (opened ?? open(file)).sqlite
    },
    checkpoint() {
      if (opened === undefined || file === ':memory:') return Promise.resolve()
      checkpointing ??= checkpointApart(opened.file).finally(() => {
        checkpointing = undefined
      })
      return checkpointing
    },
    checkpointWhenDue() {
      if (opened !== undefined && isDue(opened.sqlite)) void this.checkpoint()
    },
    replace,
    close,
  }
}

/** Whether the file is damaged or not a database. */
export const isDamaged = (error: unknown): boolean => /^SQLITE_(NOTADB|CORRUPT)/.test(codeOf(error))

/** Whether another process has locked the file. Nothing waits for the lock: the caller retries later. */
export const isBusy = (error: unknown): boolean => /^SQLITE_(BUSY|LOCKED)/.test(codeOf(error))

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : ''

function open(file: string): Opened {
  const sqlite = handOverNew(file, () => new Database(file, { create: true, strict: true }))
  try {
    // Neither commits nor creating the file wait for the disk; only checkpoints do, on a separate thread. A power cut
    // may lose the last lines.
    sqlite.run('PRAGMA synchronous = OFF')
    sqlite.run('PRAGMA journal_mode = WAL')
    sqlite.run('PRAGMA wal_autocheckpoint = 0')
    sqlite.run('PRAGMA busy_timeout = 0')
    sqlite.run('PRAGMA secure_delete = FAST')
    sqlite.run('PRAGMA journal_size_limit = 16777216')
    migrate(sqlite)
    return { sqlite, file: watchFile(file) }
  } catch (error) {
    sqlite.close()
    throw error
  }
}

function migrate(sqlite: Database): void {
  const version = sqlite.query<{ user_version: number }, []>('PRAGMA user_version').get()?.user_version ?? 0
  MIGRATIONS.slice(version).forEach((sql, i) => {
    sqlite
      .transaction(() => {
        sqlite.run(sql)
        sqlite.run(`PRAGMA user_version = ${version + i + 1}`)
      })
      .immediate()
  })
}

function putAside(file: string): void {
  if (existsSync(file)) renameSync(file, `${file}.damaged`)
  for (const suffix of ['-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true })
}
