import type { Context } from '../../context.ts'
import { authorizeAgain, type Grant } from '../auth/authorize.ts'
import { requireSchema } from '../schemas/service.ts'
import { countKept } from './counts.ts'
import { hasRecords, sampleOf } from './queries.ts'
import { EVERY_RECORD } from './where.ts'

/** How much a schema holds. With many records, `sizeBytes` is estimated from the newest. */
export type SchemaUsage = { records: number; sizeBytes: number; isSizeExact: boolean }

const SAMPLE = 100

export async function usageOf(ctx: Context, grant: Grant, schemaId: string): Promise<SchemaUsage> {
  requireSchema(ctx.db.orm, grant, schemaId)
  const records = await countKept(ctx.db, schemaId, EVERY_RECORD)
  authorizeAgain(ctx, grant, 'project:read', true)
  requireSchema(ctx.db.orm, grant, schemaId)
  const sample = sampleOf(ctx.db, schemaId, SAMPLE)
  const mean = sample.records === 0 ? 0 : sample.bytes / sample.records
  return { records, sizeBytes: Math.round(mean * records), isSizeExact: records <= sample.records }
}

/** Whether the schema holds any record. */
export function isInUse(ctx: Context, grant: Grant, schemaId: string): boolean {
  requireSchema(ctx.db.orm, grant, schemaId)
  return hasRecords(ctx.db, schemaId)
}
