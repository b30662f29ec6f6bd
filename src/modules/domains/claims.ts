import type { Context } from '../../context.ts'
import type { DbOrTx } from '../../db/open.ts'
import { inRelaxedTransaction } from '../../db/relaxed.ts'
import { DAY_MS } from '../../domain/durations.ts'
import { AppError } from '../../domain/errors.ts'
import { GO_ON, inSteps, type Stop } from '../../platform/in-steps.ts'
import { isBelowBase } from './hostname.ts'
import type { Proof } from './proof.ts'
import { countClaims, type DomainRow, deleteClaimsBefore, isHostMapped, isHostProven } from './queries.ts'

type Claim = Pick<DomainRow, 'hostname' | 'verifiedAt'>

const CLAIM_MS = 30 * DAY_MS
const REMOVED_AT_ONCE = 500

/**
 * Refuses (409) a host that another mapping holds: one that is proven, or below the base domain. Claims that nobody has
 * proven hold nothing. contract 12.10.
 */
export function refuseHeld(ctx: Context, db: DbOrTx, hostname: string): void {
  const isHeld = isBelowBase(ctx, hostname) ? isHostMapped(db, hostname) : isHostProven(db, hostname)
  if (isHeld) throw new AppError('conflict', `${hostname} is already mapped`)
}

/** Refuses (409) to prove a claim that lost: the first proof of a host wins. */
export function refuseLost(db: DbOrTx, claim: Claim): void {
  if (isLost(db, claim)) throw new AppError('conflict', lostText(claim))
}

/** While several projects claim a host, a response that this server itself gives would prove every claim. */
export const isContested = (db: DbOrTx, { hostname, verifiedAt }: Claim): boolean =>
  verifiedAt === null && countClaims(db, hostname) > 1

/** The proof as it counts now, when other claims may have come while it was looked for. */
export const settledProof = (db: DbOrTx, claim: Claim, proof: Proof): Proof =>
  proof.by === 'http' && isContested(db, claim) ? { by: null, reason: contestedText(claim) } : proof

/** Why the claim is not proven, as its record shows it: it lost, or what the last check found; null for no reason. */
export function claimError(db: DbOrTx, claim: Claim & Pick<DomainRow, 'checkError'>): string | null {
  if (claim.verifiedAt !== null) return null
  return isLost(db, claim) ? lostText(claim) : claim.checkError
}

export const contestedText = ({ hostname }: Pick<DomainRow, 'hostname'>): string =>
  `Several projects claim ${hostname}, so only the TXT record proves it.`

/** Removes claims that nobody has proven in 30 days. */
export function removeOldClaims(ctx: Context, stop: Stop = GO_ON): Promise<void> {
  const before = ctx.now() - CLAIM_MS
  const remove = () => deleteClaimsBefore(ctx.db, before, REMOVED_AT_ONCE)
  return inSteps(stop, () => inRelaxedTransaction(ctx.db, remove) === REMOVED_AT_ONCE)
}

const isLost = (db: DbOrTx, { hostname, verifiedAt }: Claim): boolean =>
  verifiedAt === null && isHostProven(db, hostname)

const lostText = ({ hostname }: Claim): string =>
  `Another project has proven that ${hostname} is its own. Delete this domain, or ask for the other to be removed.`
