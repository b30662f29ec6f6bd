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

/** A host with a certificate of its own, or one that waits for it. */
export type ListedCertificate = CertificateState & {
  host: string
  /** How the authority was shown that the host is ours (RFC 8555 §8); `file`: the operator brought it. */
  method: 'http-01' | 'dns-01' | 'dns-persist-01' | 'file'
}

/** The one certificate for the base domain and every host one label below. contract 19.5. Milliseconds since 1970. */
export type WildcardState = {
  hosts: string[]
  /** `ACME_DNS`. */
  provider: string
  status: 'pending' | 'valid' | 'failed'
  expiresAt: number | null
  renewAt: number | null
  triedAt: number | null
  error: string | null
  /** What a person has to set at the registrar, once; null where svc sets everything itself. */
  record: { name: string; type: 'CNAME' | 'TXT'; value: string } | null
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
  /** Every host that has a certificate of its own or waits for one. */
  list(): ListedCertificate[]
  /** Null while it is not set up (`ACME_DNS`). */
  wildcard(): WildcardState | null
  /** Requests the wildcard now, as `tryNow` does for a host. */
  retryWildcard(): Promise<void>
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
  list: () => [],
  wildcard: () => null,
  retryWildcard: async () => undefined,
}

/** Whether a certificate with these names covers the host; a wildcard covers one label. RFC 6125 §6.4.3. */
export function coversHost(names: readonly string[], host: string): boolean {
  const dot = host.indexOf('.')
  const wildcard = dot === -1 ? null : `*${host.slice(dot)}`
  return names.some((name) => name === host || name === wildcard)
}
