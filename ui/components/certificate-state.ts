import { isoTime } from '../../src/domain/iso-time.ts'
import type { CertificateState } from '../../src/platform/certificates.ts'
import { type Html, html } from '../html.ts'
import { badge } from './badge.ts'
import { day } from './time.ts'

/** What is known of a certificate, in one line; false where a proxy has it. */
export function certificateState({ status, expiresAt, error }: CertificateState): Html | false {
  if (status === 'off') return false
  const until = expiresAt !== null && html`until ${day(isoTime(expiresAt))}`
  return html`${BADGES[status]} ${until} ${error}`
}

const BADGES = {
  active: badge('Valid', 'good'),
  pending: badge('Being asked for', 'info'),
  expired: badge('Expired', 'bad'),
  failed: badge('Missing', 'bad'),
}
