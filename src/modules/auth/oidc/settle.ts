import type { OidcProvider } from '../../../config/config.ts'
import type { Context } from '../../../context.ts'
import { audit } from '../../../db/audit.ts'
import type { DbOrTx } from '../../../db/open.ts'
import { inTidyingTransaction } from '../../../db/tidying.ts'
import type { Actor } from '../../../domain/actor.ts'
import { AppError } from '../../../domain/errors.ts'
import type { OidcIdentity } from '../../../platform/oidc.ts'
import { joinAsGuest } from '../../members/service.ts'
import {
  addresseeOf,
  findUser,
  insertUser,
  isEmailTaken,
  newAccount,
  refuseSuspendedAccount,
  type User,
} from '../../users/accounts.ts'
import { gatedProject } from '../gate.ts'
import { isSignUpOpen } from '../login-methods.ts'
import { endPasswordLinks } from '../password-links.ts'
import { decideOidc, type OidcOutcome } from './decision.ts'
import { findConnection, hasConnection, insertConnection } from './queries.ts'

/** What the person asked for before they went to the provider. */
type Wish = {
  /** Where to go at the end: a path of the admin host or an address of the workspace. */
  redirect: string | null
  /** The account to connect, if it was asked for on the account page. */
  linkTo: string | null
}

type Settled = Extract<OidcOutcome, { do: 'refuse' | 'connect' }> | { do: 'enter'; user: User }

/** Decides about an identity and stores the result in one transaction, so that two at once make one account. */
export function settle(
  ctx: Context,
  provider: OidcProvider,
  identity: OidcIdentity,
  wish: Wish,
  ip: string,
): Settled {
  const actor: Actor = { kind: 'anonymous', ip }
  try {
    return inTidyingTransaction(ctx.db, (tx): Settled => {
      const outcome = decide(ctx, tx, provider, identity, wish)
      if (outcome.do === 'refuse') return outcome
      const userId =
        outcome.do === 'sign-up' ? addUser(ctx, tx, identity.email ?? '', wish, actor) : outcome.userId
      const user = findUser(tx, userId)
      if (user === undefined) throw new AppError('unauthenticated', 'The account was deleted')
      refuseSuspendedAccount(user)
      // Otherwise whoever has the invitation link could set a password on an account that somebody already uses.
      if (outcome.do === 'claim') endPasswordLinks(tx, userId)
      if (outcome.do !== 'sign-in') connect(ctx, tx, provider, identity, user, actor)
      return outcome.do === 'connect' ? outcome : { do: 'enter', user }
    })
  } catch (error) {
    if (isEmailTaken(error)) return { do: 'refuse', problem: 'provider-account-exists' }
    throw error
  }
}

function decide(
  ctx: Context,
  tx: DbOrTx,
  provider: OidcProvider,
  { subject, email, isEmailVerified }: OidcIdentity,
  { linkTo, redirect }: Wish,
): OidcOutcome {
  const account = email === null ? undefined : addresseeOf(tx, email).user
  return decideOidc({
    connectedTo: findConnection(tx, provider.id, subject)?.userId ?? null,
    linkTo,
    isLinkedElsewhere: linkTo !== null && hasConnection(tx, linkTo, provider.id),
    email,
    isEmailVerified,
    account: account === undefined ? null : { id: account.id, isUntouched: isUntouched(tx, account) },
    allowSignup: isSignUpOpen(ctx, projectAskedFor(ctx, redirect)),
  })
}

const isUntouched = (tx: DbOrTx, user: User): boolean =>
  user.passwordHash === null && !hasConnection(tx, user.id)

/** The gated project of the site that the person came from: it decides who may sign up, and the person joins it. */
const projectAskedFor = (ctx: Context, redirect: string | null): string | null =>
  redirect === null || redirect.startsWith('/')
    ? null
    : gatedProject(ctx, ctx.siteAt(new URL(redirect).hostname))

function addUser(ctx: Context, tx: DbOrTx, email: string, { redirect }: Wish, actor: Actor): string {
  const user = newAccount(ctx, { email, passwordHash: null, role: 'member' })
  insertUser(tx, user)
  const projectId = projectAskedFor(ctx, redirect)
  if (projectId !== null) joinAsGuest(ctx, tx, projectId, user.id)
  const target = { kind: 'user', id: user.id, name: email }
  audit(ctx, tx, actor, { action: 'user.create', target, after: { email, role: user.role } })
  return user.id
}

function connect(
  ctx: Context,
  tx: DbOrTx,
  provider: OidcProvider,
  { subject, email }: OidcIdentity,
  user: User,
  actor: Actor,
): void {
  if (findConnection(tx, provider.id, subject)?.userId === user.id) return
  insertConnection(tx, {
    provider: provider.id,
    subject,
    userId: user.id,
    email: email ?? '',
    connectedAt: ctx.now(),
  })
  const target = { kind: 'user', id: user.id, name: user.email }
  audit(ctx, tx, actor, { action: 'user.connect', target, after: { provider: provider.id } })
}
