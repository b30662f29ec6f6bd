import type { Db } from '../../db/open.ts'
import type { Operation } from '../../domain/record-words.ts'
import { type AggregateRow, recordAggregate } from './queries.ts'
import { readAll } from './reads.ts'
import type { Sql, Where } from './where.ts'

/** What is taken of which column; null counts the records themselves. */
export type Measure = { operation: Operation; column: Sql | null }

const FUNCTIONS = { count: 'count', sum: 'total', avg: 'avg', min: 'min', max: 'max' } as const

/** One row, or one for each value of `group`. */
export function readAggregate(
  db: Db,
  schemaId: string,
  where: Where,
  measure: Measure,
  group: Sql | null,
): AggregateRow[] | Promise<AggregateRow[]> {
  const taken = applied(FUNCTIONS[measure.operation], measure)
  return readAll<AggregateRow>(db, schemaId, where, recordAggregate(schemaId, where, taken, group))
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
