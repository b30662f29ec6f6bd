/** Why signing in with a provider failed, as the sign-in page and the account page show it. */
const PROBLEMS = {
  'provider-refused': 'The provider did not sign you in. Try again, or use your password.',
  'provider-failed':
    'The provider could not be reached, or its response was not valid. Try again in a minute.',
  'provider-expired': 'That took too long, or was started in another browser. Start again.',
  'provider-unverified':
    'The provider does not say that this email is yours, so it cannot be used to sign in here. Use your password.',
  'provider-account-exists':
    'An account with this email already exists. Sign in with its password, then connect the provider on your account page.',
  'provider-signup-disabled':
    'There is no account for you here yet, and signing up is off. Ask for an invitation.',
  'provider-taken': 'That provider account is connected to another account here.',
  'provider-other-connected':
    'Your account is connected to another account of that provider. Remove that connection first.',
} as const

export type OidcProblem = keyof typeof PROBLEMS

/** The message for a problem named in an address; undefined for anything else. */
export const signInProblem = (name: string | undefined): { message: string } | undefined =>
  name !== undefined && Object.hasOwn(PROBLEMS, name) ? { message: PROBLEMS[name as OidcProblem] } : undefined
