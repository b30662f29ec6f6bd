import { type Parsed, type PlainOption, text } from './values.ts'

/** An account that was made at the certificate authority by other means. RFC 8555 §7.3.4. */
export type AcmeEabConfig = {
  acmeEabKid: string | null
  /** In base64url without padding. */
  acmeEabHmacKey: string | null
}

export const ACME_EAB_OPTIONS: { [K in keyof AcmeEabConfig]: PlainOption<AcmeEabConfig[K]> } = {
  acmeEabKid: {
    env: 'ACME_EAB_KID',
    help: 'with TLS=auto: identifier of the external account that the certificate authority gave you',
    shownDefault: 'none',
    fallback: () => null,
    parse: text,
  },
  acmeEabHmacKey: {
    env: 'ACME_EAB_HMAC_KEY',
    help: 'with TLS=auto: key of that account, in base64url',
    shownDefault: 'none',
    secret: true,
    fallback: () => null,
    parse: base64urlKey,
  },
}

/** One sentence that starts with the variable; null if they go together. */
export function acmeEabConflict({ acmeEabKid, acmeEabHmacKey }: AcmeEabConfig): string | null {
  if (acmeEabKid !== null && acmeEabHmacKey === null)
    return 'ACME_EAB_HMAC_KEY is missing: ACME_EAB_KID needs it'
  if (acmeEabKid === null && acmeEabHmacKey !== null)
    return 'ACME_EAB_KID is missing: ACME_EAB_HMAC_KEY needs it'
  return null
}

/** Padding is no part of base64url, and some authorities show it. */
function base64urlKey(given: string): Parsed<string> {
  const [, digits = ''] = /^([\w-]+)={0,2}$/.exec(given) ?? []
  return digits.length >= 2 && digits.length % 4 !== 1
    ? { value: digits }
    : { expected: 'a key in base64url, as the certificate authority shows it' }
}
