import type { OidcProblem } from './problems.ts'

/** All that decides what becomes of somebody whom a provider sent back. */
export type OidcQuestion = {
  /** The account that this subject of the provider is connected to. */
  connectedTo: string | null
  /** Who is signed in and asked on the account page for the connection. */
  linkTo: string | null
  /** `linkTo` has a connection to this provider already. */
  isLinkedElsewhere: boolean
  email: string | null
  isEmailVerified: boolean
  /** The account of that email; `isUntouched` when it has neither password nor connection: invited, never used. */
  account: { id: string; isUntouched: boolean } | null
  allowSignup: boolean
}

export type OidcOutcome =
  | { do: 'sign-in'; userId: string }
  | { do: 'connect'; userId: string }
  /** The first sign-in of an invited account: connect, then sign in. */
  | { do: 'claim'; userId: string }
  | { do: 'sign-up' }
  | { do: 'refuse'; problem: OidcProblem }

/**
 * A provider's subject signs in the account that it is connected to, and nothing else does. An account is connected by
 * its owner, signed in. By email alone only an account that nobody has used yet is claimed, and only when the provider
 * says that the email is verified: an unverified email may be the victim's, and an account with a password may have been
 * made by somebody who waits for the owner of the email to walk in.
 */
export function decideOidc(question: OidcQuestion): OidcOutcome {
  const { connectedTo, linkTo, account } = question
  if (linkTo !== null) return decideLink(question, linkTo)
  if (connectedTo !== null) return { do: 'sign-in', userId: connectedTo }
  if (question.email === null || !question.isEmailVerified) return refuse('provider-unverified')
  if (account !== null)
    return account.isUntouched ? { do: 'claim', userId: account.id } : refuse('provider-account-exists')
  return question.allowSignup ? { do: 'sign-up' } : refuse('provider-signup-disabled')
}

function decideLink({ connectedTo, isLinkedElsewhere }: OidcQuestion, linkTo: string): OidcOutcome {
  if (connectedTo === linkTo) return { do: 'connect', userId: linkTo }
  if (connectedTo !== null) return refuse('provider-taken')
  return isLinkedElsewhere ? refuse('provider-other-connected') : { do: 'connect', userId: linkTo }
}

const refuse = (problem: OidcProblem): OidcOutcome => ({ do: 'refuse', problem })
