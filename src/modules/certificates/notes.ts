import type { Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import { inTransaction } from '../../db/open.ts'
import { isoTime } from '../../domain/iso-time.ts'
import type { Issued } from '../../platform/acme/order.ts'
import type { HostRecord } from './host-record.ts'

type About = { host: string; projectId: string | null }

/** Says in the log and the audit log that a host has a certificate, or a new one. */
export function noteIssued(ctx: Context, about: About & { isRenewal: boolean }, { expiresAt }: Issued): void {
  const { host, isRenewal } = about
  const until = isoTime(expiresAt)
  ctx.log.info(isRenewal ? 'certificate renewed' : 'certificate issued', { host, expiresAt: until })
  write(ctx, about, isRenewal ? 'certificate.renew' : 'certificate.issue', { expiresAt: until })
}

/** Says why not, and when it is tried again. */
export function noteFailed(ctx: Context, about: About, record: HostRecord, cause: unknown): void {
  const nextTryAt = isoTime(record.nextTryAt)
  ctx.log.warn('no certificate', { host: about.host, why: record.error, nextTryAt })
  ctx.log.debug('no certificate, because of', { host: about.host, error: cause })
  write(ctx, about, 'certificate.fail', { error: record.error, nextTryAt })
}

/** By nobody in particular: the settings of the operator ask for it. A full disk is no reason to serve nothing. */
function write(ctx: Context, { host, projectId }: About, action: string, after: object): void {
  const target = { kind: 'certificate', id: host }
  try {
    inTransaction(ctx.db, (tx) => audit(ctx, tx, { kind: 'operator' }, { action, target, projectId, after }))
  } catch (error) {
    ctx.log.error('what became of a certificate is not in the audit log', { host, error })
  }
}
