import { expect, test } from 'bun:test'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startObjectServer } from '../../testing/object-server.ts'
import { LoggedDatabase, storeAt } from '../../testing/store-log.ts'
import { bringUpToDate } from './replica.ts'

const PROGRAM = join(import.meta.dir, '../../testing/bring-up-to-date.ts')

test('killed at any request, and begun again, the file is the same', async () => {
  const root = mkdtempSync(join(tmpdir(), 'svc-replica-'))
  const server = startObjectServer()
  const primary = new LoggedDatabase(server, join(root, 'primary.db'))
  const insert = () =>
    primary.ship('INSERT INTO t (v) VALUES (randomblob(20000))', 'DELETE FROM t WHERE id % 3 = 0')
  primary.ship('CREATE TABLE t (id INTEGER PRIMARY KEY, v BLOB)')
  for (let count = 0; count < 3; count += 1) insert()
  const bring = (dataDir: string) =>
    bringUpToDate(storeAt(server), 'store-1', join(dataDir, 'svc.db'), dataDir)
  const older = join(root, 'older')
  cpSync(mkdtempSync(join(root, 'empty-')), older, { recursive: true })
  await bring(older)
  for (let count = 0; count < 4; count += 1) insert()
  primary.base()
  insert()
  const end = primary.bytes()
  for (const from of ['an older copy', 'nothing'])
    for (let at = 1, isWhole = false; !isWhole; at += 1) {
      const dataDir = mkdtempSync(join(root, 'data-'))
      if (from !== 'nothing') cpSync(older, dataDir, { recursive: true })
      isWhole = (await killedAt(server, at, dataDir)) === 0
      expect([from, at, await bring(dataDir)]).toEqual([from, at, { number: 9, isNew: false }])
      expect(readFileSync(join(dataDir, 'svc.db')).equals(end)).toBe(true)
      expect(readdirSync(dataDir).sort()).toEqual(['replica.json', 'svc.db'])
    }
  primary.db.close()
  await server.stop()
  rmSync(root, { recursive: true })
}, 120_000)

/** The exit code: 0 where the program ended before. */
async function killedAt(
  server: ReturnType<typeof startObjectServer>,
  request: number,
  dataDir: string,
): Promise<number | null> {
  const child = Bun.spawn([process.execPath, PROGRAM, server.endpoint, dataDir], { stderr: 'inherit' })
  let left = request
  server.fault = () => {
    left -= 1
    if (left !== 0) return undefined
    child.kill('SIGKILL')
    return { hang: 'before' }
  }
  await child.exited
  server.fault = () => undefined
  return child.exitCode
}
