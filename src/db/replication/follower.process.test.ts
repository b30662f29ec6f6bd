import { afterEach, beforeEach, expect, test } from 'bun:test'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nextTurn } from '../../platform/next-turn.ts'
import { followIn, STORE_ID } from '../../testing/following.ts'
import { type ObjectServer, startObjectServer } from '../../testing/object-server.ts'
import { rounds } from '../../testing/rounds.ts'
import { differingPages } from '../../testing/same-pages.ts'
import { LoggedDatabase, storeAt } from '../../testing/store-log.ts'
import { until } from '../../testing/until.ts'
import { readMarker } from './marker.ts'
import { bringUpToDate } from './replica.ts'

const KILLS = rounds(6, 100)
const TRANSACTIONS = rounds(25, 1_000)

let root: string
let dataDir: string
let server: ObjectServer
let primary: LoggedDatabase
let children: Bun.Subprocess[]

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'svc-follow-'))
  dataDir = mkdtempSync(join(root, 'data-'))
  server = startObjectServer()
  children = []
  primary = new LoggedDatabase(server, join(root, 'primary.db'))
  primary.ship(
    'CREATE TABLE schema_migrations (name TEXT)',
    'CREATE TABLE t (id INTEGER PRIMARY KEY, round INTEGER, v BLOB)',
    'INSERT INTO t (round, v) VALUES (0, randomblob(1000)), (0, randomblob(1000)), (0, randomblob(1000))',
  )
})
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL')
  primary.db.close()
  await server.stop()
  rmSync(root, { recursive: true })
})

function begun(name: string, ...args: string[]) {
  const program = join(import.meta.dir, '../../testing', name)
  const child = Bun.spawn([process.execPath, program, ...args], { stdout: 'pipe', stderr: 'inherit' })
  children.push(child)
  return child
}

/** A transaction that writes each row, one more of them or fewer, with another number of bytes. */
function write(): number {
  const round = primary.number
  const bytes = 500 + ((round * 7_919) % 60_000)
  const change = round % 5 === 4 ? 'DELETE FROM t WHERE id > 4' : "INSERT INTO t (v) VALUES ('')"
  primary.db.run('BEGIN')
  primary.db.run(change)
  primary.db.run(`UPDATE t SET round = ${round}, v = randomblob(${bytes})`)
  return primary.ship('COMMIT')
}

test('readers of this process and of another never see half a transaction', async () => {
  const { db, file, following, end } = await followIn(dataDir, storeAt(server, { timeoutMs: 30_000 }))
  const child = begun('read-whole.ts', file)
  const seen: string[] = []
  const told = (async () => {
    for await (const piece of child.stdout) seen.push(...new TextDecoder().decode(piece).trim().split('\n'))
  })()
  await until('the other process reads', () => seen.length > 0)
  const read = db.sqlite.query<{ rounds: number; bytes: number; round: number }, []>(
    'SELECT count(DISTINCT round) AS rounds, count(DISTINCT length(v)) AS bytes, max(round) AS round FROM t',
  )
  const wrong: unknown[] = []
  let isDone = false
  const reading = (async () => {
    for (; !isDone; await nextTurn()) {
      const found = read.get()
      if (found?.rounds !== 1 || found.bytes !== 1 || found.round !== following.number - 1) wrong.push(found)
    }
  })()
  for (let count = 0; count < TRANSACTIONS; count += 1) {
    write()
    await following.look()
    expect(following.state()).toMatchObject({ number: primary.number, error: null })
  }
  await until(
    'the other process sees the last',
    () => seen.includes(String(primary.number - 1)) || child.exitCode !== null,
  )
  isDone = true
  await reading
  expect(wrong).toEqual([])
  child.kill()
  await told
  expect(seen.filter((line) => !/^\d+$/.test(line))).toEqual([])
  expect(new Set(seen).size).toBeGreaterThan(3)
  await end()
}, 1_200_000)

test('killed while it applies, it is at the number that it says, or is brought up to date', async () => {
  const states = new Map<number, Buffer>([[1, primary.bytes()]])
  const whole: boolean[] = []
  for (let kill = 0; kill < KILLS; kill += 1) {
    const child = begun('follow-log.ts', server.endpoint, dataDir)
    await child.stdout.getReader().read()
    const killsAt = primary.number + 2 + (kill % 5)
    server.fault = ({ key }) => {
      if (key.includes(`${killsAt.toString(16).padStart(16, '0')}.ltx`))
        setTimeout(() => child.kill('SIGKILL'), kill % 4)
      return undefined
    }
    while (primary.number < killsAt + 3) {
      const number = write()
      states.set(number, primary.bytes())
      await Bun.sleep(kill % 3 === 0 ? 0 : 20)
    }
    await child.exited
    server.fault = () => undefined
    const marker = readMarker(dataDir)
    whole.push(marker?.isWhole === true)
    const found = readFileSync(join(dataDir, 'svc.db'))
    if (marker?.isWhole === true)
      expect(differingPages(states.get(marker.number) as Buffer, found)).toEqual([])
    // As the next start does.
    const copy = mkdtempSync(join(root, 'copy-'))
    cpSync(dataDir, copy, { recursive: true })
    const file = join(copy, 'svc.db')
    expect(await bringUpToDate(storeAt(server), STORE_ID, file, copy)).toMatchObject({
      number: primary.number,
    })
    expect(differingPages(primary.bytes(), readFileSync(file))).toEqual([])
  }
  expect(whole).toContain(false)
}, 1_200_000)
