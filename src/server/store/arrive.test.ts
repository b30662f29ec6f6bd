import { afterEach, beforeEach, expect, test } from 'bun:test'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../../config/config.ts'
import { type Db, openDb } from '../../db/open.ts'
import { type Marker, writeMarker } from '../../db/replication/marker.ts'
import { STORE_ENV } from '../../testing/store-app.ts'
import { wholeCopy } from './arrive.ts'

/** contract 18 §1: a machine whose `DATA_DIR` holds a copy of the store starts without it. The copy has to be one. */

const PAGE = 4096
const MARKER: Marker = { store: 'store-1', number: 7, seen: 9, isWhole: true }

let folder: string
let live: Db
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-arrive-'))
  live = openDb(join(folder, 'live.db'), 0)
  live.sqlite.run('PRAGMA synchronous = OFF')
  await writeMarker(folder, MARKER)
})
afterEach(() => {
  live.close()
  rmSync(folder, { recursive: true })
})

const file = () => join(folder, 'svc.db')
const configOf = () => loadConfig({ env: { ...STORE_ENV, DATA_DIR: folder } })
const insert = (rows: number) => {
  live.sqlite.run(
    'CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, size INTEGER)',
  )
  for (let n = 0; n < rows; n += 1)
    live.sqlite.run('INSERT INTO t (name, size) VALUES (?, 1)', [`${Bun.hash(`${n} ${rows}`)}`])
}
const copyTo = (beside = '') => copyFileSync(join(folder, `live.db${beside}`), `${file()}${beside}`)
/** The rows of the copy, if it is one. */
function rowsOfCopy(): number | null {
  const copy = wholeCopy(configOf())
  if (copy === null) return null
  try {
    expect(copy.number).toBe(7)
    return copy.db.sqlite.query<{ n: number }, []>('SELECT count(*) AS n FROM t').get()?.n ?? 0
  } finally {
    copy.db.close()
  }
}

test('the file of a primary that was killed is read with its log, as far as that is whole', () => {
  insert(100)
  live.sqlite.run('PRAGMA wal_checkpoint(TRUNCATE)')
  copyTo()
  insert(50)
  copyTo('-wal')
  expect(rowsOfCopy()).toBe(150)
  // The end of the log did not get to the disk: what is before it is a state that once was.
  truncateSync(`${file()}-wal`, readFileSync(`${file()}-wal`).length - PAGE)
  expect(rowsOfCopy()).toBe(149)
})

test.each([
  ['is lost', () => writeFileSync(`${file()}-wal`, '')],
  ['is cut', () => truncateSync(`${file()}-wal`, 3 * PAGE)],
  ['is damaged', () => writeFileSync(`${file()}-wal`, Buffer.alloc(40 * PAGE, 7))],
])(
  'pages of other times are no copy: a log that %s, and a file that has some of its pages',
  (_what, tear) => {
    insert(2_000)
    live.sqlite.run('PRAGMA wal_checkpoint(TRUNCATE)')
    copyTo()
    const before = readFileSync(file())
    insert(3_000)
    copyTo('-wal')
    live.sqlite.run('PRAGMA wal_checkpoint(TRUNCATE)')
    // Every other page was copied out of the log when the power went.
    const after = readFileSync(join(folder, 'live.db'))
    const torn = Buffer.from(after)
    for (let at = 2 * PAGE; at < before.length; at += 2 * PAGE) before.copy(torn, at, at, at + PAGE)
    writeFileSync(file(), torn)
    tear()
    expect(rowsOfCopy()).toBeNull()
  },
)

test('no database at all is no copy, and neither is one into which pages were being put', async () => {
  copyTo()
  writeFileSync(`${file()}-wal`, '')
  writeFileSync(file(), 'SQLite format 4, perhaps')
  expect(rowsOfCopy()).toBeNull()
  insert(1)
  live.sqlite.run('PRAGMA wal_checkpoint(TRUNCATE)')
  copyTo()
  expect(rowsOfCopy()).toBe(1)
  await writeMarker(folder, { ...MARKER, isWhole: false })
  expect(rowsOfCopy()).toBeNull()
})
