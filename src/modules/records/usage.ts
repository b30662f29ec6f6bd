import type { Context } from '../../context.ts'
import type { Grant } from '../auth/authorize.ts'
import { requireSchema } from '../schemas/service.ts'
import { countKept } from './counts.ts'
import { sampleOf } from './queries.ts'

/** How much a schema holds. `sizeBytes` is reckoned from the newest records where there are many. */
export type SchemaUsage = { records: number; sizeBytes: number; isSizeExact: boolean }

const SAMPLE = 100

export function usageOf(ctx: Context, grant: Grant, schemaId: string): SchemaUsage {
  requireSchema(ctx.db.orm, grant, schemaId)
  const records = countKept(ctx.db, schemaId, { sql: 'TRUE', values: [] })
  const sample = sampleOf(ctx.db, schemaId, SAMPLE)
  const mean = sample.records === 0 ? 0 : sample.bytes / sample.records
  return { records, sizeBytes: Math.round(mean * records), isSizeExact: records <= sample.records }
}
