export type ChallengeKind = 'http-01' | 'dns-01' | 'dns-persist-01'

/** What shows the authority that a host is ours. */
export type Proof = {
  /** Without the `*.` of a wildcard. */
  host: string
  token: string
  /** The key authorization. RFC 8555 §8.1. */
  text: string
  /** As the authority sent it. */
  challenge: Readonly<Record<string, unknown>>
  accountUrl: string
}

export type Solver = {
  kind: ChallengeKind
  /** Shows the proofs of an order side by side. Gives a function that takes them away, which does not fail. */
  show(proofs: readonly Proof[], signal: AbortSignal): Promise<() => unknown>
}
