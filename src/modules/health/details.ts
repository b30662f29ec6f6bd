import type { Context } from '../../context.ts'
import { isoTimeOrNull } from '../../domain/iso-time.ts'
import type { Grant } from '../auth/authorize.ts'
import { checkBackup } from './checks/backup.ts'
import { checkCertificates } from './checks/certificates.ts'
import type { Check, Finding } from './checks/check.ts'
import { checkDisk } from './checks/disk.ts'
import { checkPreviews, checkRetention } from './checks/projects.ts'
import { checkCdn, checkMail, checkWebhooks } from './checks/sending.ts'
import { checkStandby, checkStore } from './checks/store.ts'
import type { Health, HealthDetails, HealthFinding } from './model.ts'
import { probe } from './service.ts'

export type { HealthDetails } from './model.ts'

/** Every part of the server, for its admins. contract 16 §6. */
export async function getHealthDetails(ctx: Context, _grant: Grant): Promise<HealthDetails> {
  const { checks: probed } = await probe(ctx)
  const checks: HealthFinding[] = []
  const parts = [
    ...CHECKS,
    ...(ctx.config.cdnKind === null ? [] : [CDN_CHECK]),
    ...(ctx.machine === null ? [] : STORE_CHECKS),
  ]
  for (const [name, choose] of parts) checks.push(viewOf(ctx, name, await look(ctx, name, choose(probed))))
  return { status: worstOf(checks), checks }
}

type Name = HealthFinding['name']
type Probed = Health['checks']

const CHECKS: readonly [Name, (probed: Probed) => Check][] = [
  ['database', ({ database }) => ofProbe(database, 'The database can be written and read')],
  ['storage', ({ storage }) => ofProbe(storage, 'The storage can be written and read')],
  ['disk', () => checkDisk],
  ['backup', () => checkBackup],
  ['certificates', () => checkCertificates],
  ['webhooks', () => checkWebhooks],
  ['mail', () => checkMail],
  ['retention', () => checkRetention],
  ['previews', () => checkPreviews],
]

/** Nothing shows of a CDN where there is none. */
const CDN_CHECK: (typeof CHECKS)[number] = ['cdn', () => checkCdn]

/** Nor of an object store. */
const STORE_CHECKS: typeof CHECKS = [
  ['store', () => checkStore],
  ['standby', () => checkStandby],
]

const ofProbe =
  ({ status, message }: Probed['database'], good: string): Check =>
  () => ({ status, message: message ?? good })

/** One that cannot be looked at must not hide the others. */
async function look(ctx: Context, name: Name, check: Check): Promise<Finding> {
  try {
    return await check(ctx)
  } catch (error) {
    ctx.log.error('health check failed', { check: name, error })
    return { status: 'error', message: 'This could not be looked at; the log says why' }
  }
}

function viewOf(ctx: Context, name: Name, finding: Finding): HealthFinding {
  const { status, message, at = ctx.now(), value = null } = finding
  return { name, status, message, at: isoTimeOrNull(at), value }
}

function worstOf(checks: readonly HealthFinding[]): HealthDetails['status'] {
  const has = (wanted: Finding['status']) => checks.some(({ status }) => status === wanted)
  if (has('error')) return 'error'
  return has('warn') ? 'warn' : 'ok'
}
