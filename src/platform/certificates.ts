/** A certificate chain and its key, both PEM, as a listener takes them. */
export type Certificate = {
  /** The names that it covers, including wildcards. */
  hosts: readonly string[]
  certPem: string
  keyPem: string
  /** Milliseconds since 1970. */
  expiresAt: number
}

/** Matches each certificate in a PEM text; the group is its body. RFC 7468 §5. */
export const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----([^-]+)-----END CERTIFICATE-----/g

/** The state of one host's certificate. contract §10. */
export type CertificateState = {
  /**
   * `off`: a proxy in front has it. `pending`: it has been requested. `failed`: `error` says why; it will be retried.
   */
  status: 'off' | 'pending' | 'active' | 'expired' | 'failed'
  /** Milliseconds since 1970. */
  expiresAt: number | null
  error: string | null
}

/** The certificates of this server, from any source (`TLS`). */
export type Certificates = {
  /** All certificates that may be served now. */
  all(): readonly Certificate[]
  stateOf(host: string): CertificateState
  /** The response to `/.well-known/acme-challenge/<token>` for a host; undefined if none is pending. RFC 8555 §8.3. */
  challengeAnswer(host: string, token: string): string | undefined | Promise<string | undefined>
  /**
   * Calls the listener after each change of `all()`; returns a function that stops it. A listener that serves them
   * returns a promise of when it does: from then on, the first certificate of a host is `active`.
   */
  onChange(listener: () => unknown): () => void
  /**
   * Call it when the hosts that need a certificate may have changed: requests missing ones and drops those no longer
   * needed.
   */
  hostsChanged(): void
  /**
   * Requests the certificate of the host now, ahead of schedule. Resolves when that ends, successful or not. Throws
   * `AppError` if it must wait.
   */
  tryNow(host: string): Promise<void>
  /** A visitor came to a live alias host that no certificate covers. Cheap enough to call for each visit. */
  visited(host: string): void
  /** The hosts that were visited on a machine that orders no certificates: for the one that does. They are forgotten here. */
  takeVisited(): string[]
}

/** For servers whose certificates are elsewhere: `TLS=off`, and commands without a listener. */
export const noCertificates: Certificates = {
  all: () => [],
  stateOf: () => ({ status: 'off', expiresAt: null, error: null }),
  challengeAnswer: () => undefined,
  onChange: () => () => undefined,
  hostsChanged: () => undefined,
  tryNow: async () => undefined,
  visited: () => undefined,
  takeVisited: () => [],
}

/** Whether a certificate with these names covers the host; a wildcard covers one label. RFC 6125 §6.4.3. */
export function coversHost(names: readonly string[], host: string): boolean {
  const dot = host.indexOf('.')
  const wildcard = dot === -1 ? null : `*${host.slice(dot)}`
  return names.some((name) => name === host || name === wildcard)
}
