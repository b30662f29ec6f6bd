/** A certificate chain and its key, both PEM, as a listener takes them. */
export type Certificate = {
  /** The names it was issued for, wildcards too. */
  hosts: readonly string[]
  certPem: string
  keyPem: string
  /** Milliseconds since 1970. */
  expiresAt: number
}

/** Each certificate in a PEM text, its body as the group. RFC 7468 §5. */
export const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----([^-]+)-----END CERTIFICATE-----/g

/** What is known of one host's certificate. contract §10. */
export type CertificateState = {
  /** `off`: a proxy in front holds it. `pending`: it is being asked for. `failed`: `error` says why, and it is tried again. */
  status: 'off' | 'pending' | 'active' | 'expired' | 'failed'
  /** Milliseconds since 1970. */
  expiresAt: number | null
  error: string | null
}

/** The certificates of this server, wherever they come from (`TLS`). */
export type Certificates = {
  /** All that may be served now. */
  all(): readonly Certificate[]
  stateOf(host: string): CertificateState
  /** What `/.well-known/acme-challenge/<token>` answers for a host; undefined when nothing was asked for. RFC 8555 §8.3. */
  challengeAnswer(host: string, token: string): string | undefined
  /**
   * Calls after each change of `all()`, and returns how to end that. A listener that serves them returns a promise of when
   * it does: a host's first certificate is `active` from then on.
   */
  onChange(listener: () => unknown): () => void
  /** The hosts that need one may have changed: what is missing is asked for, what nobody needs is dropped. */
  hostsChanged(): void
  /** Asks for the host's now, before its time. Resolves when that ended, well or not. Throws `AppError` when it must wait. */
  tryNow(host: string): Promise<void>
  /** Somebody came to a live alias host that no certificate covers. Cheap enough to be called for each visit. */
  visited(host: string): void
}

/** Somebody else has the certificates: `TLS=off`, and commands without a listener. */
export const noCertificates: Certificates = {
  all: () => [],
  stateOf: () => ({ status: 'off', expiresAt: null, error: null }),
  challengeAnswer: () => undefined,
  onChange: () => () => undefined,
  hostsChanged: () => undefined,
  tryNow: async () => undefined,
  visited: () => undefined,
}

/** Whether a certificate of these names stands for the host: a wildcard for one label. RFC 6125 §6.4.3. */
export function coversHost(names: readonly string[], host: string): boolean {
  const dot = host.indexOf('.')
  const wildcard = dot === -1 ? null : `*${host.slice(dot)}`
  return names.some((name) => name === host || name === wildcard)
}
