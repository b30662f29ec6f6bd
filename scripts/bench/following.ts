import { join } from 'node:path'
import { startObjectServer } from '../../src/testing/object-server.ts'
import { LoggedDatabase } from '../../src/testing/store-log.ts'
import type { Lab } from './lib/lab.ts'
import type { Pace } from './lib/pace.ts'
import type { Line } from './lib/report.ts'

const ROW_BYTES = 100_000
const ROWS = 500

type Told = { number: number; longestMs: number }

/** How long a machine that follows stands still while it applies a transaction of 50 MB. */
export async function benchFollowing(lab: Lab, pace: Pace): Promise<Line[]> {
  const added: number[] = []
  const rewritten: number[] = []
  for (let round = 0; round < pace.rounds; round += 1) {
    const server = startObjectServer()
    const primary = new LoggedDatabase(server, join(lab.folder('primary'), 'primary.db'))
    primary.ship(
      'CREATE TABLE schema_migrations (name TEXT)',
      'CREATE TABLE t (id INTEGER PRIMARY KEY, v BLOB)',
    )
    const program = join(import.meta.dir, 'lib/following-process.ts')
    const child = Bun.spawn([process.execPath, program, server.endpoint, lab.folder('follower')], {
      stdout: 'pipe',
    })
    const told = linesOf(child.stdout)
    await told.next()
    primary.ship(
      `INSERT INTO t (v) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS}) SELECT randomblob(${ROW_BYTES}) FROM n`,
    )
    added.push((await told.next()).value?.longestMs ?? Number.NaN)
    primary.ship(`UPDATE t SET v = randomblob(${ROW_BYTES})`)
    rewritten.push((await told.next()).value?.longestMs ?? Number.NaN)
    child.kill()
    await child.exited
    primary.db.close()
    await server.stop()
  }
  const bar = { atMost: 250, aim: 20 }
  return [
    { name: 'a follower adds 50 MB', measure: 'longest pause, ms', samples: added, bar },
    { name: 'a follower rewrites 50 MB', measure: 'longest pause, ms', samples: rewritten, bar },
  ]
}

async function* linesOf(stdout: ReadableStream<Uint8Array>): AsyncGenerator<Told> {
  let rest = ''
  for await (const piece of stdout) {
    const lines = (rest + new TextDecoder().decode(piece)).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) yield JSON.parse(line) as Told
  }
}
