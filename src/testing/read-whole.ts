import { Database } from 'bun:sqlite'

/**
 * A process of its own that reads a file in which each transaction writes the same `round` into each row of `t`, and tells each
 * round that it sees. It ends with 1 when it sees half of one.
 */
const [file = ''] = process.argv.slice(2)
const db = new Database(file, { readonly: true })
db.run('PRAGMA busy_timeout = 30000')
const read = db.query<{ rounds: number; round: number; bytes: number; rows: number }, []>(
  'SELECT count(DISTINCT round) AS rounds, max(round) AS round, count(DISTINCT length(v)) AS bytes, count(*) AS rows FROM t',
)
let last = -1
for (;;) {
  const found = read.get()
  if (found?.rounds !== 1 || found.bytes !== 1) {
    console.log(`half: ${JSON.stringify(found)}`)
    process.exit(1)
  }
  if (found.round !== last) console.log(String(found.round))
  last = found.round
  await Bun.sleep(1)
}
