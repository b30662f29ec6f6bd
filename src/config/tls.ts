import { email, httpsUrl, oneOf, type Parsed, type PlainOption, text, wholeNumber } from './values.ts'

type TlsMode = 'off' | 'auto' | 'files'

/** The server's own TLS settings. contract §10. */
export type TlsConfig = {
  tls: TlsMode
  tlsCertFile: string | null
  tlsKeyFile: string | null
  /** Port of the plain HTTP listener beside the TLS one; null for none. */
  httpPort: number | null
  acmeDirectory: string
  acmeEmail: string | null
}

export const TLS_OPTIONS: { [K in keyof TlsConfig]: PlainOption<TlsConfig[K]> } = {
  tls: {
    env: 'TLS',
    help: 'source of certificates: off (a proxy in front), auto (by ACME) or files',
    shownDefault: 'off',
    fallback: () => 'off',
    parse: oneOf('off', 'auto', 'files'),
  },
  tlsCertFile: {
    env: 'TLS_CERT_FILE',
    help: 'with TLS=files: PEM file of the certificate and its chain, reloaded when it changes',
    shownDefault: 'none',
    fallback: () => null,
    parse: text,
  },
  tlsKeyFile: {
    env: 'TLS_KEY_FILE',
    help: "with TLS=files: PEM file of the certificate's key",
    shownDefault: 'none',
    fallback: () => null,
    parse: text,
  },
  httpPort: {
    env: 'HTTP_PORT',
    help: 'with TLS on: port of the plain HTTP listener, which redirects to https, or off',
    shownDefault: '80',
    fallback: () => 80,
    parse: portOrOff,
  },
  acmeDirectory: {
    env: 'ACME_DIRECTORY',
    help: 'with TLS=auto: the directory of the certificate authority',
    shownDefault: "Let's Encrypt",
    fallback: () => 'https://acme-v02.api.letsencrypt.org/directory',
    parse: httpsUrl,
  },
  acmeEmail: {
    env: 'ACME_EMAIL',
    help: 'with TLS=auto: email address for the certificate authority',
    shownDefault: 'none',
    fallback: () => null,
    parse: email,
  },
}

/** Describes a conflict between settings in a sentence that starts with the variable; null if there is none. */
export function tlsConflict(config: TlsConfig & { port: number; publicUrl: string | null }): string | null {
  const { tls, tlsCertFile, tlsKeyFile, httpPort, port, publicUrl } = config
  if (tls === 'off') return null
  if (tls === 'files' && tlsCertFile === null) return 'TLS_CERT_FILE is missing: TLS=files needs it'
  if (tls === 'files' && tlsKeyFile === null) return 'TLS_KEY_FILE is missing: TLS=files needs it'
  if (tls === 'auto' && httpPort === null)
    return 'HTTP_PORT is "off", but with TLS=auto the certificate authority checks each host on that port'
  if (httpPort === port && port !== 0) return `HTTP_PORT is "${port}", but must differ from PORT`
  if (publicUrl?.startsWith('http:')) return `PUBLIC_URL is "${publicUrl}", but must be https with TLS on`
  return null
}

function portOrOff(given: string): Parsed<number | null> {
  if (given.toLowerCase() === 'off') return { value: null }
  const parsed = wholeNumber(0, 65_535)(given)
  return 'value' in parsed ? parsed : { expected: `${parsed.expected}, or off` }
}
