import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { closeSync, copyFileSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rounds, seedOf } from '../../testing/rounds.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { readWal, type WalPosition } from '../wal/read.ts'
import { applyLtx } from './apply.ts'
import { LtxDecoder } from './decode.ts'
import { encodeLtx } from './encode.ts'
import { LtxError } from './format.ts'
import { ltxOf } from './of-wal.ts'

const STEPS = rounds(120, 2000)
const FUZZED = rounds(20_000, 1_000_000)
const seed = seedOf('the log')

const picking = (seed: number): ((below: number) => number) => {
  const random = seededRandom(seed)
  return (below) => Math.floor(random() * below)
}

/** Writes, takes back, deletes and shrinks. */
function change(db: Database, pick: (below: number) => number): void {
  const rows = 1 + pick(20)
  const kind = pick(10)
  if (kind === 9) db.run('DELETE FROM t WHERE id % 3 = 0')
  else if (kind === 8) db.run('VACUUM')
  else if (kind === 7) db.query('PRAGMA wal_checkpoint(PASSIVE)').get()
  else {
    db.run('BEGIN')
    for (let row = 0; row < rows; row += 1) {
      db.query('INSERT INTO t (v) VALUES (randomblob(?))').run(pick(6000))
      db.query('UPDATE t SET v = zeroblob(?) WHERE id = ?').run(pick(100), 1 + pick(200))
    }
    db.run(kind === 6 ? 'ROLLBACK' : 'COMMIT')
  }
}

test('a copy that gets each batch is the database', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-log-'))
  const [file, copy] = [join(folder, 'a.db'), join(folder, 'copy.db')]
  const db = new Database(file)
  db.run('PRAGMA journal_mode = WAL')
  db.run('PRAGMA wal_autocheckpoint = 0')
  db.run('CREATE TABLE t (id INTEGER PRIMARY KEY, v BLOB)')
  db.query('PRAGMA wal_checkpoint(TRUNCATE)').get()
  copyFileSync(file, copy)
  const target = openSync(copy, 'r+')
  const pick = picking(seed)
  let after: WalPosition | null = null
  for (let number = 2; number < STEPS; number += 1) {
    change(db, pick)
    const log = openSync(`${file}-wal`, 'r')
    const batch = readWal(log, after)
    const bytes = batch === null ? null : ltxOf(log, batch, { number, timestamp: 0 })
    closeSync(log)
    if (batch === null || bytes === null) continue
    after = batch.next
    const header = await applyLtx(new Blob([bytes]).stream(), target)
    expect(header).toEqual({
      pageSize: 4096,
      commit: batch.commit,
      first: number,
      last: number,
      timestamp: 0,
    })
    // Everything is read, so that the log may begin again.
    if (pick(8) === 0) db.query('PRAGMA wal_checkpoint(TRUNCATE)').get()
  }
  closeSync(target)
  db.query('PRAGMA wal_checkpoint(TRUNCATE)').get()
  db.close()
  expect(readFileSync(copy).equals(readFileSync(file))).toBe(true)
  rmSync(folder, { recursive: true })
})

const header = { pageSize: 512, commit: 3, first: 7, last: 7, timestamp: 0 }
const pages = [1, 3].map((number) => ({ number, data: new Uint8Array(512).fill(number) }))
const file = encodeLtx(header, pages)

/** The file, of which up to four bytes less than `reach` apart are others, or which is cut. */
function spoiled(pick: (below: number) => number, reach: number): Uint8Array {
  const bytes = Uint8Array.from(file)
  const from = pick(bytes.length - reach + 1)
  for (let change = pick(4); change >= 0; change -= 1) bytes[from + pick(reach)] = pick(256)
  return pick(3) === 0 ? bytes.subarray(0, pick(bytes.length)) : bytes
}

/** What the bytes hold, or null where they are refused as no such file. */
function readOrRefused(bytes: Uint8Array): unknown[] | null {
  const read: { number: number; data: Uint8Array }[] = []
  const decoder = new LtxDecoder({
    header: () => {},
    page: ({ number, data }) => read.push({ number, data: Uint8Array.from(data) }),
  })
  try {
    decoder.push(bytes)
    return [decoder.end(), read]
  } catch (error) {
    if (error instanceof LtxError) return null
    throw error
  }
}

// The checksum of the format sees every fault within 64 bits, but not each of two bytes that lie 8 apart.
test('a file that is spoiled in one place is refused or holds what it held', () => {
  const pick = picking(seed)
  for (let round = 0; round < FUZZED; round += 1) {
    const read = readOrRefused(spoiled(pick, 8))
    if (read !== null) expect(read).toEqual([header, pages])
  }
}, 600_000)

test('whatever the bytes are, they are refused or are pages of the size that they say', () => {
  const pick = picking(seed)
  for (let round = 0; round < FUZZED; round += 1) {
    const read = readOrRefused(spoiled(pick, file.length))
    if (read !== null) expect(read).toMatchObject([{ pageSize: 512 }, [{ number: 1 }, { number: 3 }]])
  }
}, 600_000)
