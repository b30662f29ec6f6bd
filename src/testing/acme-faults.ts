import type { ExternalAccounts } from './acme-external-accounts.ts'

/** Faults and refusals of the authority. Counts go down as they are used. */
export type AcmeFaults = {
  /** The number of signed requests to reject because of their nonce. */
  badNonces: number
  /** The number of signed requests to answer with 500. */
  failing: number
  /** Answers new orders with 429; the text is the `Retry-After` value. */
  rateLimit: { retryAfter: string | null } | null
  /** The reason why a host's challenge fails, whatever it returns. */
  refusals: Map<string, { type: string; detail: string }>
  /** How many times an order is still being processed when polled. */
  processing: number
  /** `nearly over`: a fifth of its lifetime is left. `not yet`: valid from two days from now. */
  chain: 'good' | 'other key' | 'other host' | 'loose' | 'garbage' | 'expired' | 'nearly over' | 'not yet'
  /** Replaces the generated tokens. */
  token: string | null
  challengeType: string
  needsExternalAccount: boolean
  externalAccounts: ExternalAccounts
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
  externalAccounts: new Map(),
})
