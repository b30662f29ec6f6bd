import type { Context, Machine } from '../../context.ts'
import { notPrimary } from '../../domain/store-errors.ts'
import { onePer } from '../../platform/one-per.ts'
import { accessRefusal } from '../auth/access-refusal.ts'
import type { Health, HealthCheck } from './model.ts'
import { probeCopy, probeDatabase } from './queries.ts'

export type { Health } from './model.ts'

const runningOf = onePer((_: Context): { probe?: Promise<Health> } => ({}))

/**
 * Really checks: writes to the database and rolls back; writes, syncs and reads a small file. Concurrent requests share
 * one result, because each check costs a disk sync and anybody may ask as often as they like.
 */
export function probe(ctx: Context): Promise<Health> {
  const running = runningOf(ctx)
  running.probe ??= tryAll(ctx).finally(() => {
    delete running.probe
  })
  return running.probe
}

async function tryAll(ctx: Context): Promise<Health> {
  const [database, storage] = await Promise.all([
    check(ctx, 'database', () => (isWriter(ctx) ? probeDatabase : probeCopy)(ctx.db)),
    check(ctx, 'storage', () => ctx.blobs.probe()),
  ])
  const isOk = database.status === 'ok' && storage.status === 'ok'
  // A monotonic clock.
  const uptime = Math.round(process.uptime() * 10) / 10
  const found = { status: isOk ? 'ok' : 'error', version: ctx.version, uptime } as const
  if (ctx.machine === null) return { ...found, checks: { database, storage } }
  // Sites are served without the store.
  const store = checkLog(ctx.machine)
  return { ...found, role: ctx.machine.role(), checks: { database, storage, store } }
}

/** What this machine and the object store know of each other. */
function checkLog({ role, state }: Machine): HealthCheck {
  const { isStoreUp, error } = state()
  if (!isStoreUp) return { status: 'error', message: 'The object store does not answer; the log says why' }
  if (error === null || role() === 'primary') return { status: 'ok' }
  return { status: 'error', message: 'This machine does not follow the primary now; the log says why' }
}

const isWriter = ({ machine }: Context): boolean => machine === null || machine.role() === 'primary'

/** Throws where no write would be taken now. contract 18 §7. */
export function requirePrimary(ctx: Context): { role: 'primary'; epoch: number } {
  const { machine } = ctx
  if (machine === null) return { role: 'primary', epoch: 0 }
  if (accessRefusal(ctx) !== null || ctx.db.log.refusal() !== null) throw notPrimary()
  return { role: 'primary', epoch: machine.epoch() }
}

/** The error goes to the log; the visitor learns only which part failed. */
async function check(ctx: Context, name: string, work: () => unknown): Promise<HealthCheck> {
  try {
    await work()
    return { status: 'ok' }
  } catch (error) {
    ctx.log.error('health check failed', { check: name, error })
    return { status: 'error', message: `The ${name} cannot be written or read; the log says why` }
  }
}
