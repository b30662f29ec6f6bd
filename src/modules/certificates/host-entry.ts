import type { CertificateState } from '../../platform/certificates.ts'
import type { HostRecord } from './host-record.ts'

/** A host at run time. */
export type Entry = {
  record: HostRecord
  projectId: string | null
  /** Its order, while there is one. `ended` never rejects. */
  run: { giveUp: AbortController; ended: Promise<void> } | null
  /** Somebody wants it now, and is told when that was done. */
  asked: PromiseWithResolvers<void> | null
}

export const newEntry = (record: HostRecord): Entry => ({ record, projectId: null, run: null, asked: null })

/** As the API tells it. */
export function stateOfEntry({ record, run, asked }: Entry, now: number): CertificateState {
  const { certificate, failures, error } = record
  if (certificate !== null) {
    const { expiresAt } = certificate
    return { status: expiresAt > now ? 'active' : 'expired', expiresAt, error }
  }
  const isFailed = failures > 0 && run === null && asked === null
  return { status: isFailed ? 'failed' : 'pending', expiresAt: null, error: isFailed ? error : null }
}
