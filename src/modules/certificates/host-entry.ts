import type { CertificateState, ListedCertificate } from '../../platform/certificates.ts'
import type { HostRecord } from './host-record.ts'

/** A host at run time. */
export type Entry = {
  record: HostRecord
  projectId: string | null
  /** Its order, while there is one. `ended` never rejects. */
  run: { giveUp: AbortController; ended: Promise<void> } | null
  /** Somebody wants it now; resolved when that order has ended. */
  asked: PromiseWithResolvers<void> | null
  /** Its first certificate is here, and the listener does not serve it yet. */
  isOpening: boolean
  /** What became of its last order is in memory only. */
  isUnstored: boolean
}

export const newEntry = (record: HostRecord): Entry => ({
  record,
  projectId: null,
  run: null,
  asked: null,
  isOpening: false,
  isUnstored: false,
})

/** As the API shows it. */
export function stateOfEntry({ record, run, asked, isOpening }: Entry, now: number): CertificateState {
  const { certificate, failures, error } = record
  if (certificate !== null && !isOpening) {
    const { expiresAt } = certificate
    return { status: expiresAt > now ? 'active' : 'expired', expiresAt, error }
  }
  const isFailed = certificate === null && failures > 0 && run === null && asked === null
  return { status: isFailed ? 'failed' : 'pending', expiresAt: null, error: isFailed ? error : null }
}

export const listOf = (entries: Iterable<Entry>, now: number): ListedCertificate[] =>
  [...entries].map((entry) => ({
    host: entry.record.host,
    method: entry.record.host.startsWith('*.') ? 'dns-01' : 'http-01',
    ...stateOfEntry(entry, now),
  }))
