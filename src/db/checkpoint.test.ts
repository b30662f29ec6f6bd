import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../testing/until.ts'
import { checkpointApart, checkpointWhenDue, isDue, keepCheckpointed } from './checkpoint.ts'
import { type Db, inTransaction, openDb } from './open.ts'

const PAGE = 4096
let folder: string
let db: Db
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-checkpoint-'))
  db = openDb(join(folder, 'svc.db'), 0)
  inTransaction(db, () => void db.sqlite.run('CREATE TABLE filling (bytes BLOB NOT NULL)'))
})
afterEach(() => {
  db.close()
  rmSync(folder, { recursive: true })
})

/** Makes one commit of at least this many pages. */
function fill(pages: number): void {
  inTransaction(db, () => {
    const insert = db.sqlite.query('INSERT INTO filling VALUES (?)')
    for (let page = 0; page < pages; page++) insert.run(new Uint8Array(PAGE))
  })
}

const logState = () => db.sqlite.query('PRAGMA wal_checkpoint(NOOP)').get() as Record<string, number>

/** What the file contains without its log. */
function rowsInFile(): number {
  const copy = join(folder, 'copy.db')
  copyFileSync(join(folder, 'svc.db'), copy)
  const alone = new Database(copy)
  const { rows } = alone.query('SELECT count(*) AS rows FROM filling').get() as { rows: number }
  alone.close()
  return rows
}

test('a large commit leaves its pages in the log, and the checkpoint copies them into the file', async () => {
  await checkpointWhenDue(db)
  fill(5000)
  const { log, checkpointed } = logState()
  expect([log ?? 0, checkpointed]).toEqual([expect.any(Number), 0])
  expect(log).toBeGreaterThan(5000)
  await checkpointWhenDue(db)
  expect(logState()).toMatchObject({ checkpointed: log })
  expect(rowsInFile()).toBe(5000)
  expect(checkpointWhenDue(db)).toBeUndefined()
})

test('a file that takes the name of the database before the checkpoint begins does not get its log', async () => {
  const path = join(folder, 'svc.db')
  fill(5000)
  const done = checkpointWhenDue(db)
  renameSync(path, `${path}-away`)
  writeFileSync(path, '')
  await done
  renameSync(`${path}-away`, path)
  expect(db.sqlite.query('SELECT count(*) AS rows FROM filling').get()).toEqual({ rows: 5000 })
  await checkpointWhenDue(db)
  expect(rowsInFile()).toBe(5000)
})

test('nothing is due for a database that cannot be queried', () => {
  fill(4500)
  expect(isDue(db.sqlite)).toBe(true)
  const other = new Database(join(folder, 'svc.db'))
  expect(isDue(other)).toBe(true)
  other.close()
  expect(isDue(other)).toBe(false)
})

test('a small amount stays in the log', () => {
  fill(100)
  expect(checkpointWhenDue(db)).toBeUndefined()
})

test('checkpoints run repeatedly, alongside commits', async () => {
  const stop = keepCheckpointed(db, 1)
  for (let round = 1; round <= 3; round++) {
    fill(4500)
    await until('the checkpoint', () => logState()['checkpointed'] === logState()['log'])
    expect(rowsInFile()).toBe(round * 4500)
  }
  await stop()
})

test('a file that replaced the open one is not touched', () => {
  fill(4500)
  const path = join(folder, 'svc.db')
  renameSync(path, join(folder, 'moved.db'))
  copyFileSync(join(folder, 'moved.db'), path)
  const put = readFileSync(path)
  expect(checkpointWhenDue(db)).toBeUndefined()
  expect(readFileSync(path)).toEqual(put)
})

test('nor is one whose name leads elsewhere before anybody looks', async () => {
  fill(10)
  const path = join(folder, 'svc.db')
  renameSync(path, `${path}-away`)
  for (const bytes of [readFileSync(`${path}-away`), '']) {
    writeFileSync(path, bytes)
    await checkpointApart(db.file)
    await checkpointApart(db.file)
    expect(readFileSync(path)).toEqual(Buffer.from(bytes))
  }
  renameSync(`${path}-away`, path)
  await checkpointApart(db.file)
  expect(rowsInFile()).toBe(10)
})

test('nor is one that comes and goes while the checkpoint begins', async () => {
  const path = join(folder, 'svc.db')
  for (let round = 1; round <= 20; round++) {
    fill(1)
    const done = checkpointApart(db.file)
    let isRunning = true
    void done.then(() => {
      isRunning = false
    })
    while (isRunning) {
      renameSync(path, `${path}-away`)
      writeFileSync(path, '')
      await Bun.sleep(0)
      renameSync(`${path}-away`, path)
      await Bun.sleep(0)
    }
  }
  expect(existsSync(`${path}-wal`)).toBe(true)
  expect(db.sqlite.query('SELECT count(*) AS rows FROM filling').get()).toEqual({ rows: 20 })
  await checkpointApart(db.file)
  expect(rowsInFile()).toBe(20)
})

test('without checkpoints the log restarts before it grows without limit', () => {
  let maxPages = 0
  for (let round = 0; round < 12; round++) {
    fill(2000)
    maxPages = Math.max(maxPages, logState()['log'] ?? 0)
  }
  expect(maxPages).toBeLessThan(20_000)
})
