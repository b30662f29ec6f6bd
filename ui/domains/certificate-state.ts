import { isoTime } from '../../src/domain/iso-time.ts'
import type { CertificateState } from '../../src/platform/certificates.ts'
import { badge } from '../components/badge.ts'
import { type Html, html } from '../components/html.ts'
import { day } from '../components/time.ts'

/** The state of a certificate in one line; false if a proxy holds it. */
export function certificateState({ status, expiresAt, error }: CertificateState): Html | false {
  if (status === 'off') return false
  const until = expiresAt !== null && html`until ${day(isoTime(expiresAt))}`
  return html`${certificateBadge(status)} ${until} ${error}`
}

export const certificateBadge = (status: CertificateState['status']): Html => BADGES[status]

const BADGES = {
  off: badge('Elsewhere'),
  active: badge('Valid', 'good'),
  pending: badge('Requested', 'info'),
  expired: badge('Expired', 'bad'),
  failed: badge('Missing', 'bad'),
}
