import { expect, test } from 'bun:test'
import { decideOidc, type OidcOutcome, type OidcQuestion } from './decision.ts'

const STRANGER: OidcQuestion = {
  connectedTo: null,
  linkTo: null,
  isLinkedElsewhere: false,
  email: 'ann@example.com',
  isEmailVerified: true,
  account: null,
  allowSignup: true,
}
const USED = { id: 'ann', isUntouched: false }
const INVITED = { id: 'ann', isUntouched: true }

const refuse = (problem: string) => ({ do: 'refuse', problem }) as OidcOutcome

const rows: [what: string, question: Partial<OidcQuestion>, outcome: OidcOutcome][] = [
  ['a connected subject signs in', { connectedTo: 'ann' }, { do: 'sign-in', userId: 'ann' }],
  [
    'also when the email is not verified or gone',
    { connectedTo: 'ann', email: null, isEmailVerified: false },
    { do: 'sign-in', userId: 'ann' },
  ],
  [
    'also when the email is by now that of somebody else',
    { connectedTo: 'ann', email: 'bob@example.com', account: { id: 'bob', isUntouched: false } },
    { do: 'sign-in', userId: 'ann' },
  ],
  ['a new email signs up where that is allowed', {}, { do: 'sign-up' }],
  ['and not where it is not', { allowSignup: false }, refuse('provider-signup-disabled')],
  ['an unverified email makes no account', { isEmailVerified: false }, refuse('provider-unverified')],
  ['no email makes no account', { email: null }, refuse('provider-unverified')],
  [
    "attack: the provider has the victim's email unverified",
    { isEmailVerified: false, account: USED },
    refuse('provider-unverified'),
  ],
  [
    'attack: the same for an account that was invited',
    { isEmailVerified: false, account: INVITED },
    refuse('provider-unverified'),
  ],
  [
    'attack: an account made beforehand with a password waits for the owner of the email',
    { account: USED },
    refuse('provider-account-exists'),
  ],
  [
    'an invited account that nobody used is claimed with a verified email',
    { account: INVITED, allowSignup: false },
    { do: 'claim', userId: 'ann' },
  ],
  [
    'on the account page the signed-in account is connected, whatever the email',
    { linkTo: 'ann', email: 'other@example.com', isEmailVerified: false },
    { do: 'connect', userId: 'ann' },
  ],
  [
    'once more changes nothing',
    { linkTo: 'ann', connectedTo: 'ann', isLinkedElsewhere: true },
    { do: 'connect', userId: 'ann' },
  ],
  [
    'a subject of another account is not taken from it',
    { linkTo: 'ann', connectedTo: 'bob' },
    refuse('provider-taken'),
  ],
  [
    'an account has one connection to a provider',
    { linkTo: 'ann', isLinkedElsewhere: true },
    refuse('provider-other-connected'),
  ],
]

test.each(rows)('%s', (_what, question, outcome) => {
  expect(decideOidc({ ...STRANGER, ...question })).toEqual(outcome)
})
