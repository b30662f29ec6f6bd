/** What the authority does wrong, or has against somebody. Counts go down as they are used up. */
export type AcmeFaults = {
  /** So many signed requests are refused for their nonce. */
  badNonces: number
  /** So many signed requests are answered by 500. */
  failing: number
  /** New orders are answered by 429; the text is that of `Retry-After`. */
  rateLimit: { retryAfter: string | null } | null
  /** Why a host's challenge fails, whatever it answers. */
  refusals: Map<string, { type: string; detail: string }>
  /** So often an order is still being worked on when it is asked about. */
  processing: number
  /** `nearly over`: with a fifth of its time left. `not yet`: valid from in two days on. */
  chain: 'good' | 'other key' | 'other host' | 'loose' | 'garbage' | 'expired' | 'nearly over' | 'not yet'
  /** In place of the tokens that it makes. */
  token: string | null
  challengeType: string
  needsExternalAccount: boolean
}

export const noFaults = (): AcmeFaults => ({
  badNonces: 0,
  failing: 0,
  rateLimit: null,
  refusals: new Map(),
  processing: 0,
  chain: 'good',
  token: null,
  challengeType: 'http-01',
  needsExternalAccount: false,
})
