import type { Context } from '../../context.ts'
import { probeDatabase } from './queries.ts'

type Check = { status: 'ok' | 'error'; message?: string }
export type Health = {
  status: 'ok' | 'error'
  version: string
  uptime: number
  checks: { database: Check; storage: Check }
}

/** Really probes: a write to the database that is rolled back, and a small file written, synced and read. */
export async function probe(ctx: Context): Promise<Health> {
  const [database, storage] = await Promise.all([
    check(ctx, 'database', () => probeDatabase(ctx.db)),
    check(ctx, 'storage', () => ctx.blobs.probe()),
  ])
  const isOk = database.status === 'ok' && storage.status === 'ok'
  const uptime = Math.round((ctx.now() - ctx.startedAt) / 100) / 10
  return { status: isOk ? 'ok' : 'error', version: ctx.version, uptime, checks: { database, storage } }
}

/** What went wrong is for the log; the visitor learns only which part. */
async function check(ctx: Context, name: string, work: () => unknown): Promise<Check> {
  try {
    await work()
    return { status: 'ok' }
  } catch (error) {
    ctx.log.error('health check failed', { check: name, error })
    return { status: 'error', message: `The ${name} cannot be written or read; the log says why` }
  }
}
