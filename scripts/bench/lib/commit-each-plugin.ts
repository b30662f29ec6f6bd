import { plugin } from 'bun'

/** Preloaded into a server that runs from its sources: every record gets a commit of its own, all else is the same. */
const EACH = `
export function groupCommit(db, work) {
  return new Promise((resolve, reject) => {
    db.sqlite.run('BEGIN IMMEDIATE')
    try {
      const value = work(db)
      db.sqlite.run('COMMIT')
      resolve(value)
    } catch (error) {
      if (db.sqlite.inTransaction) db.sqlite.run('ROLLBACK')
      reject(error)
    } finally {
      db.writes += 1
    }
  })
}
export function flushGroupCommit() {}
`

plugin({
  name: 'commit each',
  setup(build) {
    build.onLoad({ filter: /[\\/]src[\\/]db[\\/]group-commit\.ts$/ }, () => ({
      contents: EACH,
      loader: 'js',
    }))
  },
})
