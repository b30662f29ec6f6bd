import type { Db } from '../../db/open.ts'
import { onePer } from '../../platform/one-per.ts'
import { changesOf } from './changes.ts'
import { bytesOfRecords, lastOfWindow } from './queries.ts'
import { EVERY_RECORD, type Order, type Sql, type Where } from './where.ts'

/** Records that are read in one turn, if they are not large: a few milliseconds. */
export const WINDOW = 2000
/** The same for their bytes, times the effort for each. */
const MAX_EFFORT = 4 * 1024 * 1024

type Direction = Order['direction']

/** Less and greater than every id. */
const BEFORE_FIRST = { ASC: '', DESC: '~' }

/** Whether a single statement may read all records of the schema. */
export const isSmall = (
  db: Db,
  schemaId: string,
  { effort }: Pick<Where, 'effort'> = EVERY_RECORD,
): boolean =>
  lastOfWindow(db, schemaId, 'DESC', BEFORE_FIRST.DESC, WINDOW) === undefined &&
  bytesOf(db, schemaId) * effort <= MAX_EFFORT

type Size = { changes: number; bytes: number }
const sizesOf = onePer((_: Db) => new Map<string, Size>())
const MAX_SIZES = 10_000

/** The bytes of all records of a schema that has few. Cached until one is written. */
function bytesOf(db: Db, schemaId: string): number {
  const sizes = sizesOf(db)
  const changes = changesOf(db, schemaId)
  const known = sizes.get(schemaId)
  if (known?.changes === changes) return known.bytes
  const bytes = bytesOfRecords(db, schemaId, EVERY_RECORD)
  if (sizes.size >= MAX_SIZES) sizes.clear()
  sizes.set(schemaId, { changes, bytes })
  return bytes
}

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
    const last = endOfWindow(db, schemaId, direction, after, size)
    yield between(where, direction, after, last)
    after = last
    if (after !== undefined) await turnOfScan()
  }
}

/** The last id of the next window, which has fewer records if they are large. Undefined if it takes the rest. */
function endOfWindow(
  db: Db,
  schemaId: string,
  direction: Direction,
  after: string,
  size: number,
): string | undefined {
  const last = lastOfWindow(db, schemaId, direction, after, size)
  const bytes = bytesOfRecords(db, schemaId, between(EVERY_RECORD, direction, after, last))
  const fits = size === 1 || bytes <= MAX_EFFORT
  return fits ? last : endOfWindow(db, schemaId, direction, after, Math.ceil(size / 4))
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
