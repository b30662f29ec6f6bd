import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { closeSync, copyFileSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { framesBefore, hasMore, readWal, type WalBatch, type WalPosition } from './read.ts'

let folder: string
let file: string
let db: Database

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-wal-'))
  file = join(folder, 'a.db')
  db = open()
  db.run('CREATE TABLE t (id INTEGER PRIMARY KEY, v BLOB)')
  db.query('PRAGMA wal_checkpoint(TRUNCATE)').get()
  copyFileSync(file, join(folder, 'copy.db'))
})
afterEach(() => {
  db.close()
  rmSync(folder, { recursive: true })
})

function open(): Database {
  const opened = new Database(file)
  opened.run('PRAGMA journal_mode = WAL')
  opened.run('PRAGMA wal_autocheckpoint = 0')
  return opened
}

function read(after: WalPosition | null = null): Read | null {
  const log = openSync(`${file}-wal`, 'r')
  try {
    const batch = readWal(log, after)
    if (batch === null) return null
    expect(hasMore(log, after)).toBe(true)
    const bytes = readFileSync(`${file}-wal`)
    const pages = [...batch.pages].map(([page, at]) => [page, bytes.subarray(at, at + 4096)] as const)
    return { ...batch, pages: new Map(pages) }
  } finally {
    closeSync(log)
  }
}

/** A batch with the pages that the log had then. */
type Read = Omit<WalBatch, 'pages'> & { pages: Map<number, Uint8Array> }

function hasAny(after: WalPosition | null): boolean {
  const log = openSync(`${file}-wal`, 'r')
  const found = hasMore(log, after)
  closeSync(log)
  return found
}

/** What the copy is once the pages of these batches are put into it. */
function applied(...batches: (Read | null)[]): Buffer {
  let bytes = readFileSync(join(folder, 'copy.db'))
  for (const batch of batches) {
    if (batch === null) continue
    const next = Buffer.alloc(batch.commit * batch.pageSize)
    bytes.copy(next)
    for (const [page, data] of batch.pages) next.set(data, (page - 1) * batch.pageSize)
    bytes = next
  }
  return bytes
}

function checkpointed(): Buffer {
  db.query('PRAGMA wal_checkpoint(TRUNCATE)').get()
  return readFileSync(file)
}

const fill = (bytes: number, rows = 1) => {
  for (let row = 0; row < rows; row += 1) db.query('INSERT INTO t (v) VALUES (randomblob(?))').run(bytes)
}

describe('the log', () => {
  test('holds what was committed, as the database has it after a checkpoint', () => {
    fill(100)
    const first = read()
    fill(9000, 3)
    db.run('UPDATE t SET v = zeroblob(10) WHERE id = 1')
    const second = read(first?.next ?? null)
    expect(second).not.toBeNull()
    expect(read(second?.next ?? null)).toBeNull()
    expect(hasAny(second?.next ?? null)).toBe(false)
    expect(applied(first, second)).toEqual(checkpointed())
  })

  test('says how many frames stand before a position, as SQLite counts them', () => {
    fill(9000, 3)
    const state = db.query<{ log: number }, []>('PRAGMA wal_checkpoint(NOOP)').get()
    expect(framesBefore(read()?.next as WalPosition, 4096)).toBe(state?.log ?? 0)
  })

  test('holds nothing of a transaction that is not committed, or was taken back', () => {
    fill(100)
    const before = read()
    db.run('PRAGMA cache_size = 1')
    db.run('BEGIN')
    fill(4000, 50)
    const log = openSync(`${file}-wal`, 'r')
    expect(readWal(log, before?.next ?? null)).toBeNull()
    closeSync(log)
    db.run('ROLLBACK')
    fill(50)
    const after = read(before?.next ?? null)
    expect(applied(before, after)).toEqual(checkpointed())
  })

  test('is read from its beginning when it began again', () => {
    fill(5000, 5)
    const first = read()
    db.query('PRAGMA wal_checkpoint(RESTART)').get()
    fill(20)
    const second = read(first?.next ?? null)
    expect(second?.next.salt).not.toBe(first?.next.salt)
    expect(applied(first, second)).toEqual(checkpointed())
  })

  test('of a database that became smaller leaves nothing behind its end', () => {
    fill(4000, 50)
    db.run('DELETE FROM t')
    db.run('VACUUM')
    const batch = read()
    expect(Math.max(...(batch?.pages.keys() ?? []))).toBeLessThanOrEqual(batch?.commit ?? 0)
    expect(batch?.smallest).toBe(2)
    expect(applied(batch)).toEqual(checkpointed())
  })

  test('ends before the first byte that was not written for it', () => {
    fill(100)
    const first = read()
    fill(100)
    const whole = readFileSync(`${file}-wal`)
    for (const at of [8, 16, 24, 30, 2000]) {
      const changed = Buffer.from(whole)
      const place = (first?.next.offset ?? 0) + at
      changed[place] = (changed[place] ?? 0) ^ 1
      const log = join(folder, 'changed')
      writeFileSync(log, changed)
      const descriptor = openSync(log, 'r')
      expect(readWal(descriptor, null)?.next.offset).toBe(first?.next.offset)
      closeSync(descriptor)
    }
  })

  test.each([
    ['nothing', 0],
    ['half a header', 20],
  ])('with %s in it holds nothing', (_, length) => {
    fill(100)
    const log = join(folder, 'cut')
    writeFileSync(log, readFileSync(`${file}-wal`).subarray(0, length))
    const descriptor = openSync(log, 'r')
    expect(readWal(descriptor, null)).toBeNull()
    closeSync(descriptor)
  })
})
