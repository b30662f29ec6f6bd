import type { Db } from '../../db/open.ts'
import { lastOfWindow } from './queries.ts'
import type { Order, Sql } from './where.ts'

/** Records that are read in one turn: a few milliseconds. */
export const WINDOW = 2000

type Direction = Order['direction']

/** Less and greater than every id. */
const BEFORE_FIRST = { ASC: '', DESC: '~' }

/** Whether a single statement may read all records of the schema. */
export const isSmall = (db: Db, schemaId: string): boolean =>
  lastOfWindow(db, schemaId, 'DESC', BEFORE_FIRST.DESC, WINDOW) === undefined

/**
 * Divides the records of a schema into windows in the order of their ids, and yields `where` for each. Others get their
 * turn in between, so this is no snapshot: a record that is written meanwhile may be seen before or after the change.
 * None is seen twice, and none is missed that exists all the time.
 */
export async function* windowsOf(
  db: Db,
  schemaId: string,
  where: Sql,
  direction: Direction = 'DESC',
  size: number = WINDOW,
): AsyncGenerator<Sql> {
  let after: string | undefined = BEFORE_FIRST[direction]
  while (after !== undefined) {
    const last = lastOfWindow(db, schemaId, direction, after, size)
    yield between(where, direction, after, last)
    after = last
    if (after !== undefined) await turnOfScan()
  }
}

function between({ sql, values }: Sql, direction: Direction, after: string, last: string | undefined): Sql {
  const [beyond, until] = direction === 'ASC' ? ['>', '<='] : ['<', '>=']
  const start = `${sql} AND id ${beyond} ?`
  return last === undefined
    ? { sql: start, values: [...values, after] }
    : { sql: `${start} AND id ${until} ?`, values: [...values, after, last] }
}

const waiting: (() => void)[] = []

/** Like `nextTurn`, but of all scans only one continues in each turn, so that many together do not block longer. */
function turnOfScan(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve)
    if (waiting.length === 1) setImmediate(continueOne)
  })
}

function continueOne(): void {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(continueOne)
}
