import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { baseKey, logKey } from '../../domain/store-keys.ts'
import { StoreError } from '../../platform/object-store.ts'
import { type ObjectServer, type StoreFault, startObjectServer } from '../../testing/object-server.ts'
import { LoggedDatabase, storeAt } from '../../testing/store-log.ts'
import { LogError } from './log-error.ts'
import { readMarker, writeMarker } from './marker.ts'
import { bringUpToDate } from './replica.ts'

let root = ''
let dataDir = ''
let file = ''
let server: ObjectServer
let primary: LoggedDatabase

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'svc-replica-'))
  dataDir = mkdtempSync(join(root, 'data-'))
  file = join(dataDir, 'svc.db')
  server = startObjectServer()
  server.pageKeys = 2
  primary = new LoggedDatabase(server, join(root, 'primary.db'))
})
afterEach(async () => {
  primary.db.close()
  await server.stop()
  rmSync(root, { recursive: true })
})

const begin = () => primary.ship('CREATE TABLE t (id INTEGER PRIMARY KEY, v BLOB)')
const insert = (bytes = 10_000) => primary.ship(`INSERT INTO t (v) VALUES (randomblob(${bytes}))`)
const bring = (from = storeAt(server)) => bringUpToDate(from, 'store-1', file, dataDir)
const object = (key: string) => server.objects.get(`p/${key}`)?.bytes as Uint8Array
const replace = (key: string, bytes: Uint8Array) => server.objects.set(`p/${key}`, { bytes, headers: {} })
const remove = (key: string) => server.objects.delete(`p/${key}`)
const refusal = (work: Promise<unknown> = bring()) =>
  work.then(
    () => 'none',
    (error: unknown) => {
      if (!(error instanceof LogError || error instanceof StoreError)) throw error
      return `${error.kind}: ${error.message}`
    },
  )
const isCopy = () => readFileSync(file).equals(primary.bytes())

function grown(numbers: number): void {
  if (primary.number === 0) begin()
  while (primary.number < numbers) insert()
}

describe('the file becomes the end of the log', () => {
  test('from the log alone, then from what was added', async () => {
    grown(5)
    expect(await bring()).toEqual({ number: 5, isNew: false })
    expect(isCopy()).toBe(true)
    expect(readMarker(dataDir)).toEqual({ store: 'store-1', number: 5, seen: 5, isWhole: true })
    primary.ship('DELETE FROM t WHERE id > 1', 'VACUUM')
    grown(9)
    server.requests.length = 0
    expect(await bring()).toEqual({ number: 9, isNew: false })
    expect(isCopy()).toBe(true)
    expect(server.requests.some(({ key }) => key === `p/${logKey(1)}`)).toBe(false)
    expect(readdirSync(dataDir).sort()).toEqual(['replica.json', 'svc.db'])
  })

  test('from the newest base, where the log before it is gone', async () => {
    grown(4)
    primary.base()
    grown(8)
    primary.base()
    grown(11)
    for (let number = 1; number < 4; number += 1) remove(logKey(number))
    expect(await bring()).toEqual({ number: 11, isNew: false })
    expect(isCopy()).toBe(true)
    expect(server.requests.some(({ key }) => key === `p/${baseKey(4)}`)).toBe(false)
  })

  test('a copy whose next number was removed as old begins anew', async () => {
    grown(3)
    await bring()
    grown(9)
    primary.base()
    for (let number = 1; number < 9; number += 1) remove(logKey(number))
    expect(await bring()).toEqual({ number: 9, isNew: false })
    expect(isCopy()).toBe(true)
  })

  test('a store without a database leaves none here', async () => {
    expect(await bring()).toEqual({ number: 0, isNew: true })
    expect(readMarker(dataDir)).toEqual({ store: 'store-1', number: 0, seen: 0, isWhole: false })
    // Begun here, and never shipped.
    new Database(file).run('CREATE TABLE never (a)')
    expect(await bring()).toEqual({ number: 0, isNew: true })
    expect(existsSync(file)).toBe(false)
    grown(2)
    expect(await bring()).toEqual({ number: 2, isNew: false })
    expect(isCopy()).toBe(true)
  })

  test('without what was committed here and not shipped', async () => {
    grown(3)
    await bring()
    const here = new Database(file)
    here.run('PRAGMA wal_autocheckpoint = 0')
    here.run("INSERT INTO t (v) VALUES ('unshipped')")
    const left = readFileSync(`${file}-wal`)
    here.close()
    // The close moved it into the file: as after a crash, it is in the log alone.
    writeFileSync(file, primary.bytes())
    writeFileSync(`${file}-wal`, left)
    insert()
    expect(await bring()).toEqual({ number: 4, isNew: false })
    expect(isCopy()).toBe(true)
    expect(existsSync(`${file}-wal`)).toBe(false)
  })

  test('the marker is a lower bound: what the file holds already is applied again', async () => {
    grown(6)
    await bring()
    await writeMarker(dataDir, { store: 'store-1', number: 2, seen: 6, isWhole: true })
    expect(await bring()).toEqual({ number: 6, isNew: false })
    expect(isCopy()).toBe(true)
  })

  test.each([512, 1024, 65_536])('pages of %p bytes', async (pageSize) => {
    primary.db.close()
    primary = new LoggedDatabase(server, join(root, 'other.db'), pageSize)
    grown(3)
    expect(await bring()).toEqual({ number: 3, isNew: false })
    expect(isCopy()).toBe(true)
    insert()
    await bring()
    expect(isCopy()).toBe(true)
  })

  test('objects that are too large to be held', async () => {
    grown(2)
    await bring()
    insert(9_000_000)
    insert()
    expect(await bring()).toEqual({ number: 4, isNew: false })
    expect(isCopy()).toBe(true)
    expect(readdirSync(dataDir).sort()).toEqual(['replica.json', 'svc.db'])
  })

  test('keys that are no numbers of the log are passed over', async () => {
    grown(3)
    for (const key of [
      'db/0000/ffffffffffffffff-ffffffffffffffff.ltx',
      'db/0000/0000000000000004-0000000000000005.ltx',
      'db/0000/0000000000000000-0000000000000000.ltx',
      'db/0000/note.txt',
      'db/0009/0000000000000001-ffffffffffffffff.ltx',
      'db/0009/0000000000000002-0000000000000003.ltx',
    ])
      replace(key, new Uint8Array(1))
    expect(await bring()).toEqual({ number: 3, isNew: false })
  })

  test('a store that falters for a moment is asked again', async () => {
    grown(2)
    insert(9_000_000)
    const faults: StoreFault[] = [
      { status: 503, code: 'SlowDown' },
      { cut: true },
      { status: 500 },
      { cut: true },
    ]
    server.fault = ({ key }) => (key.endsWith('.ltx') ? faults.pop() : undefined)
    expect(await bring()).toEqual({ number: 3, isNew: false })
    expect(faults).toEqual([])
    expect(isCopy()).toBe(true)
  })

  test('objects that are removed as old while they are read', async () => {
    grown(4)
    let isRead = false
    server.fault = ({ key }) => {
      if (key !== `p/${logKey(3)}` || isRead) return undefined
      isRead = true
      primary.base()
      for (let number = 1; number < 4; number += 1) remove(logKey(number))
      return undefined
    }
    expect(await bring()).toEqual({ number: 4, isNew: false })
    expect(isCopy()).toBe(true)
  })
})

describe('what cannot be gone by stops with its key', () => {
  const flipped = (bytes: Uint8Array, at: number) =>
    bytes.map((byte, index) => (index === at ? byte ^ 1 : byte))

  test.each<[string, (key: string, other: string) => void]>([
    ['cut', (key) => replace(key, object(key).slice(0, -1))],
    ['cut in a page', (key) => replace(key, object(key).slice(0, 2_000))],
    ['empty', (key) => replace(key, new Uint8Array(0))],
    ['a bit of a page', (key) => replace(key, flipped(object(key), 3_000))],
    ['a bit of the header', (key) => replace(key, flipped(object(key), 15))],
    ['another number', (key, other) => replace(key, object(other))],
    ['no object of the log', (key) => replace(key, new TextEncoder().encode('<html>Sign in</html>'))],
    ['something behind its end', (key) => replace(key, Buffer.concat([object(key), new Uint8Array(1)]))],
    ['very large', (key) => replace(key, new Uint8Array(20_000_000))],
  ])('%s', async (_, spoil) => {
    grown(4)
    await bring()
    const before = readFileSync(file)
    grown(6)
    primary.base()
    const good = new Map(server.objects)
    spoil(logKey(5), logKey(4))
    expect(await refusal()).toContain(`damaged: "${logKey(5)}" in the object store is damaged: `)
    expect(readFileSync(file).equals(before)).toBe(true)
    rmSync(file)
    spoil(baseKey(6), logKey(4))
    expect(await refusal()).toContain(`damaged: "${baseKey(6)}" in the object store is damaged: `)
    expect(existsSync(file)).toBe(false)
    for (const [key, value] of good) server.objects.set(key, value)
    expect(await bring()).toEqual({ number: 6, isNew: false })
    expect(isCopy()).toBe(true)
  })

  test('a gap, in the log and between it and a base', async () => {
    grown(6)
    remove(logKey(4))
    expect(await refusal()).toContain(
      `missing: the log in the object store has a gap: "${logKey(4)}" is not there`,
    )
    primary.base()
    remove(logKey(6))
    expect(await refusal()).toContain(`"${logKey(6)}" is not there, and "${baseKey(6)}" needs it`)
    remove(baseKey(6))
    remove(logKey(1))
    expect(await refusal()).toContain(`"${logKey(4)}" is not there`)
    for (const number of [2, 3]) remove(logKey(number))
    expect(await refusal()).toContain(`"${logKey(1)}" is not there, and there is no base in "db/0009/"`)
    expect(readdirSync(dataDir)).toEqual([])
  })

  test('a log whose pages change their size', async () => {
    grown(2)
    const other = new LoggedDatabase(server, join(root, 'other.db'), 1024)
    other.number = 1
    other.db.run('CREATE TABLE a (b)')
    other.number = 2
    other.ship('CREATE TABLE c (d)')
    other.db.close()
    expect(await refusal()).toContain(
      `"${logKey(3)}" in the object store is damaged: its pages have 1024 bytes`,
    )
  })

  test.each<[string, StoreFault, string]>([
    ['HTML', { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>' }, 'damaged: '],
    ['no right', { status: 403, code: 'AccessDenied' }, 'denied: '],
    ['an endless cut', { cut: true }, '": '],
    ['a wrong clock', { status: 403, code: 'RequestTimeTooSkewed' }, 'clock: '],
    ['a failing store', { status: 500 }, 'unreachable: '],
  ])('%s', async (_, fault, what) => {
    grown(2)
    server.fault = ({ key }) => (key === `p/${logKey(2)}` ? fault : undefined)
    expect(await refusal(bring(storeAt(server, { timeoutMs: 500 })))).toContain(what)
    expect(existsSync(file)).toBe(false)
    server.fault = () => undefined
    expect(await bring()).toEqual({ number: 2, isNew: false })
  })

  test('an end below what was seen, and nothing is changed', async () => {
    grown(6)
    await bring()
    const before = readFileSync(file)
    for (const number of [6, 5]) remove(logKey(number))
    expect(await refusal()).toContain(
      'behind: the log in the object store ends at 4, but this data directory has seen 6',
    )
    for (const number of [4, 3, 2, 1]) remove(logKey(number))
    expect(await refusal()).toContain('ends at 0, but this data directory has seen 6')
    expect(readFileSync(file).equals(before)).toBe(true)
  })

  test('a workspace of its own and a copy of another store are left alone', async () => {
    grown(2)
    writeFileSync(file, 'own')
    expect(await refusal()).toContain('not_ours: ')
    await writeMarker(dataDir, { store: 'store-2', number: 1, seen: 1, isWhole: true })
    expect(await refusal()).toContain('is a copy of the store store-2, not of store-1')
    expect(readFileSync(file, 'utf8')).toBe('own')
    writeFileSync(join(dataDir, 'replica.json'), '{"store":')
    await expect(bring()).rejects.toThrow('replica.json cannot be read')
  })
})
