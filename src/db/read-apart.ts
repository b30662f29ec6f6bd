import { AppError } from '../domain/errors.ts'
import { fairQueue } from '../platform/fair-queue.ts'
import { niceThreads } from '../platform/nice-threads.ts'
import { onePer } from '../platform/one-per.ts'
import { refuseMoved } from './database-file.ts'
import type { Db } from './open.ts'
// @ts-expect-error: the text of the file is imported, and TypeScript sees its exports
import program from './read-program.ts' with { type: 'text' }
import type { ReadJob } from './read-program.ts'
import { prepared } from './statements.ts'

/** Such a thread gets about a third of a core that the server also wants. */
const NICENESS = 5

const onReadThread = niceThreads<ReadJob, unknown[]>({
  niceness: NICENESS,
  failure: 'A large read failed',
  program,
})

/**
 * One at a time: together they would only be slower, and use memory at the same time. Schemas take turns, so that one whose
 * visitors ask for very much does not take the thread from all others.
 */
const queueOf = onePer((_: Db) =>
  fairQueue({
    waitingOfOne: 64,
    waiting: 512,
    refusal: () =>
      new AppError('unavailable', 'Too many large reads at once. Try again in a few seconds.', {
        headers: { 'retry-after': '5' },
      }),
  }),
)

/**
 * The rows of a statement that may have to read very much, on a thread and a connection of its own: it holds up nobody,
 * and sees one state of the database, with everything that is committed when it begins. At once inside a transaction,
 * whose changes only its own connection sees, and for a database in memory. Throws `unavailable` if too many wait or
 * the file was moved; `turn` names those who share one.
 */
export function readApart<Row>(
  db: Db,
  turn: string,
  sql: string,
  values: (string | number | null)[],
): Row[] | Promise<Row[]> {
  const { path, inode } = db.file
  if (db.sqlite.inTransaction || inode === undefined) return prepared<Row>(db, sql).all(...values)
  return queueOf(db)(turn, () => {
    refuseMoved(db.file)
    return onReadThread({ path, inode, sql, values }) as Promise<Row[]>
  })
}
