import type { Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import { inTransaction } from '../../db/open.ts'
import { isoTime } from '../../domain/iso-time.ts'
import type { Issued } from '../../platform/acme/order.ts'
import { tellOfCertificate } from '../webhooks/watch.ts'
import type { HostRecord } from './host-record.ts'

type About = { host: string; projectId: string | null }

/** Logs and audits that a host has its first certificate, or a renewed one. */
export function noteIssued(ctx: Context, about: About & { isRenewal: boolean }, { expiresAt }: Issued): void {
  const { host, isRenewal } = about
  const until = isoTime(expiresAt)
  ctx.log.info(isRenewal ? 'certificate renewed' : 'certificate issued', { host, expiresAt: until })
  write(ctx, about, isRenewal ? 'certificate.renew' : 'certificate.issue', { expiresAt: until })
}

/** Logs why a host has no certificate, and when it is tried again. */
export function noteFailed(ctx: Context, about: About, record: HostRecord, cause: unknown): void {
  const nextTryAt = isoTime(record.nextTryAt)
  ctx.log.warn('no certificate', { host: about.host, why: record.error, nextTryAt })
  ctx.log.debug('certificate order failed', { host: about.host, error: cause })
  write(ctx, about, 'certificate.fail', { error: record.error, nextTryAt })
  if (record.failures >= TOLD_AFTER) tell(ctx, about.host, record)
}

/** Failures in a row after which the hooks are told. */
const TOLD_AFTER = 3

/** A full disk must not stop serving. */
function tell(ctx: Context, host: string, { certificate, error }: HostRecord): void {
  try {
    tellOfCertificate(ctx, host, certificate?.expiresAt ?? null, error)
  } catch (cause) {
    ctx.log.error('the hooks could not be told of a certificate', { host, error: cause })
  }
}

/** Audited without an actor, because the operator's settings ask for it. A full disk must not stop serving. */
function write(ctx: Context, { host, projectId }: About, action: string, after: object): void {
  const target = { kind: 'certificate', id: host, name: host }
  try {
    inTransaction(ctx.db, (tx) => audit(ctx, tx, { kind: 'operator' }, { action, target, projectId, after }))
  } catch (error) {
    ctx.log.error('the audit log entry about a certificate could not be written', { host, error })
  }
}
