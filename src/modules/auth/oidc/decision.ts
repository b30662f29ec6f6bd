import type { OidcProblem } from './problems.ts'

/** Everything that decides what happens with a person whom a provider sent back. */
export type OidcQuestion = {
  /** The account that this subject of the provider is connected to. */
  connectedTo: string | null
  /** The signed-in person who asked for the connection on the account page. */
  linkTo: string | null
  /** `linkTo` already has a connection to this provider. */
  isLinkedElsewhere: boolean
  email: string | null
  isEmailVerified: boolean
  /** The account with that email. `isUntouched`: invited and never used (neither password nor connection). */
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
 * A provider's subject signs in only to the account that it is connected to. The owner of an account connects it while
 * signed in. An email alone claims only an account that nobody has used yet, and only if the provider says that the
 * email is verified. An unverified email may belong to a victim. An account with a password may have been made by an
 * attacker who waits for the owner of the email to sign in to it.
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
