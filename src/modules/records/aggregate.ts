import type { Db } from '../../db/open.ts'
import { compareValues, type Value } from './compare.ts'
import { type AggregateRow, aggregateRows } from './queries.ts'
import { isReadAtOnce } from './reads.ts'
import { windowsOf } from './scan.ts'
import type { Sql, Where } from './where.ts'

export const OPERATIONS = ['count', 'sum', 'avg', 'min', 'max'] as const
export type Operation = (typeof OPERATIONS)[number]

/** What is taken of which column; null counts the records themselves. */
export type Measure = { operation: Operation; column: Sql | null }

const FUNCTIONS = { count: 'count', sum: 'total', avg: 'avg', min: 'min', max: 'max' } as const

/**
 * One row, or one for each value of `group`. A large schema is read in windows, as `windowsOf` describes; a sum of
 * fractions may then differ in the last digit.
 */
export function readAggregate(
  db: Db,
  schemaId: string,
  where: Where,
  measure: Measure,
  group: Sql | null,
): AggregateRow[] | Promise<AggregateRow[]> {
  if (!isReadAtOnce(db, schemaId, where)) return aggregateInWindows(db, schemaId, where, measure, group)
  return aggregateRows(db, schemaId, where, applied(FUNCTIONS[measure.operation], measure), group)
}

/** Distinguishes what `readAggregate` reads of one schema. */
export function nameOfAggregate(where: Sql, { operation, column }: Measure, group: Sql | null): string {
  const values = [...where.values, ...(column?.values ?? []), ...(group?.values ?? [])]
  return `${operation} ${column?.sql} by ${group?.sql} ${where.sql} ${JSON.stringify(values)}`
}

const applied = (name: string, { column }: Measure): Sql => ({
  sql: `${name}(${column?.sql ?? '*'})`,
  values: column?.values ?? [],
})

/** What was found so far. `error`: what adding lost by rounding; `counted`: the values of an average. */
type Tally = { value: Value; error: number; counted: number }

async function aggregateInWindows(
  db: Db,
  schemaId: string,
  where: Where,
  measure: Measure,
  group: Sql | null,
): Promise<AggregateRow[]> {
  const isAverage = measure.operation === 'avg'
  const taken = applied(isAverage ? 'total' : FUNCTIONS[measure.operation], measure)
  const counted = isAverage ? applied('count', measure) : undefined
  const tallies = new Map<Value, Tally>()
  for await (const part of windowsOf(db, schemaId, where))
    for (const row of aggregateRows(db, schemaId, part, taken, group, counted))
      tallies.set(row.grouped, combined(measure.operation, tallies.get(row.grouped), row))
  return [...tallies]
    .map(([grouped, tally]) => ({ grouped, value: resultOf(measure.operation, tally) }))
    .sort((a, b) => compareValues(a.grouped, b.grouped))
}

function combined(operation: Operation, tally: Tally | undefined, { value, counted }: AggregateRow): Tally {
  if (tally === undefined) return { value, error: 0, counted: counted ?? 0 }
  if (operation === 'min' || operation === 'max')
    return { ...tally, value: outermost(operation, tally.value, value) }
  return added(tally, Number(value), counted ?? 0)
}

function outermost(operation: 'min' | 'max', a: Value, b: Value): Value {
  if (a === null || b === null) return a ?? b
  const isFirst = operation === 'min' ? compareValues(a, b) <= 0 : compareValues(a, b) >= 0
  return isFirst ? a : b
}

/** Adds as SQLite does: what a sum of very different numbers loses is added at the end (Neumaier). */
function added(tally: Tally, value: number, counted: number): Tally {
  const before = Number(tally.value)
  const sum = before + value
  const lost = Math.abs(before) >= Math.abs(value) ? before - sum + value : value - sum + before
  return { value: sum, error: tally.error + lost, counted: tally.counted + counted }
}

function resultOf(operation: Operation, { value, error, counted }: Tally): Value {
  if (operation !== 'sum' && operation !== 'avg') return value
  const sum = Number.isFinite(value) ? Number(value) + error : Number(value)
  if (operation === 'sum') return sum
  return counted === 0 ? null : sum / counted
}
