import type { OidcProvider } from '../../config.ts'
import type { Context, RequestFacts } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import { type DbOrTx, inTransaction, isUniqueViolation } from '../../db/open.ts'
import { normalizeEmail } from '../../domain/email.ts'
import { AppError } from '../../domain/errors.ts'
import { safeRedirect } from '../../http/safe-redirect.ts'
import { createOidcClient, type OidcClient, type OidcIdentity, OidcRefusal } from '../../platform/oidc.ts'
import { onePer } from '../../platform/one-per.ts'
import { joinAsGuest } from '../members/service.ts'
import { readSettings } from '../settings/service.ts'
import { findUser, findUserByEmail, insertUser, newAccount, type User } from '../users/accounts.ts'
import type { Origin } from './caller.ts'
import { loginMethods } from './login-methods.ts'
import { decideOidc, type OidcOutcome } from './oidc-decision.ts'
import type { OidcProblem } from './oidc-problems.ts'
import { findConnection, hasConnection, insertConnection } from './queries.ts'
import { enterOrAsk, type SignInStep } from './sign-in.ts'

/** What a browser keeps while it is at the provider: sealed, in a cookie of its own. */
type Flow = {
  provider: string
  state: string
  nonce: string
  verifier: string
  redirect: string | null
  /** Set when the person asked for the connection on their account page. */
  linkTo: string | null
  expiresAt: number
}

export const FLOW_COOKIE = 'svcOidc'
export const FLOW_SECONDS = 10 * 60
const SEAL = 'oidc flow'
/** So that the cookie stays below what browsers keep. */
const MOST_REDIRECT = 1024

/** How it ended: with a session or its second step, with a connection, or with a reason why not. */
export type OidcResult = { redirect: string | undefined } & (
  | { kind: 'entered'; step: SignInStep }
  | { kind: 'connected' }
  | { kind: 'problem'; problem: OidcProblem; wasLink: boolean }
)

const clientOf = onePer((ctx: Context): OidcClient => createOidcClient(ctx.outbound, ctx.now))

/** The provider of that id, or 404. */
export function getProvider(ctx: Context, id: string): OidcProvider {
  const provider = ctx.config.oidcProviders.find((one) => one.id === id)
  if (provider === undefined) throw new AppError('not_found', 'There is no such sign-in method')
  return provider
}

/** Registered at the provider: always of the admin host, whatever host was visited. */
const callbackUrl = (ctx: Context, { id }: OidcProvider): string =>
  `${ctx.adminUrl()}/api/auth/oidc/${id}/callback`

/** Where the browser goes, and the flow to keep meanwhile. Throws 502 when the provider cannot be asked. */
export async function startOidc(
  ctx: Context,
  provider: OidcProvider,
  input: { redirect: string | undefined; linkTo: string | null },
): Promise<{ url: string; flow: string }> {
  const started = await clientOf(ctx)
    .start(provider, callbackUrl(ctx, provider))
    .catch((cause: unknown) => {
      throw new AppError('bad_gateway', `${provider.displayName} cannot be reached. Try again in a minute.`, {
        cause,
      })
    })
  const { url, ...kept } = started
  const redirect = safeRedirect(ctx, input.redirect) ?? null
  const flow: Flow = {
    ...kept,
    provider: provider.id,
    redirect: redirect !== null && redirect.length <= MOST_REDIRECT ? redirect : null,
    linkTo: input.linkTo,
    expiresAt: ctx.now() + FLOW_SECONDS * 1000,
  }
  return { url, flow: ctx.secrets.seal(JSON.stringify(flow), SEAL) }
}

/** How a browser came back from a provider. */
type Return = {
  /** What its cookies of that name hold. */
  sealedFlows: readonly string[]
  callback: URL
  /** Who is signed in now: a connection is only made for who asked for it. */
  signedInId: string | null
  origin: Origin
}

/** Ends what `startOidc` began. */
export async function finishOidc(
  ctx: Context,
  provider: OidcProvider,
  { sealedFlows, callback, signedInId, origin }: Return,
): Promise<OidcResult> {
  const flow = sealedFlows.flatMap((sealed) => openFlow(ctx, sealed, provider, callback) ?? [])[0]
  if (flow === undefined) return problem('provider-expired', undefined, false)
  const redirect = flow.redirect ?? undefined
  const wasLink = flow.linkTo !== null
  if (wasLink && flow.linkTo !== signedInId) return problem('provider-expired', redirect, true)
  const identity = await askProvider(ctx, provider, flow, callback)
  if (typeof identity === 'string') return problem(identity, redirect, wasLink)
  return settle(ctx, provider, identity, flow, origin)
}

const problem = (problem: OidcProblem, redirect: string | undefined, wasLink: boolean): OidcResult => ({
  kind: 'problem',
  problem,
  redirect,
  wasLink,
})

/** The flow of a cookie; a sibling site can add cookies of that name, so only one with this very state counts. */
function openFlow(ctx: Context, sealed: string, provider: OidcProvider, callback: URL): Flow | undefined {
  try {
    const flow = JSON.parse(ctx.secrets.open(sealed, SEAL)) as Flow
    const isThis = flow.provider === provider.id && flow.state === callback.searchParams.get('state')
    return isThis && flow.expiresAt > ctx.now() ? flow : undefined
  } catch {
    return undefined
  }
}

async function askProvider(
  ctx: Context,
  provider: OidcProvider,
  flow: Flow,
  callback: URL,
): Promise<OidcIdentity | OidcProblem> {
  try {
    return await clientOf(ctx).finish(provider, callbackUrl(ctx, provider), flow, callback)
  } catch (error) {
    if (error instanceof OidcRefusal) return 'provider-refused'
    ctx.log.warn('signing in with a provider failed', { provider: provider.id, error })
    return 'provider-failed'
  }
}

async function settle(
  ctx: Context,
  provider: OidcProvider,
  identity: OidcIdentity,
  flow: Flow,
  origin: Origin,
): Promise<OidcResult> {
  const redirect = flow.redirect ?? undefined
  const outcome = await applyOutcome(ctx, provider, identity, flow, origin)
  if (outcome.do === 'refuse') return problem(outcome.problem, redirect, flow.linkTo !== null)
  if (outcome.do === 'connect') return { kind: 'connected', redirect }
  return { kind: 'entered', step: await enterOrAsk(ctx, outcome.user, origin), redirect }
}

type Applied = Extract<OidcOutcome, { do: 'refuse' | 'connect' }> | { do: 'enter'; user: User }

/** Decides and writes in one transaction, so that two at once cannot both make the account. */
function applyOutcome(
  ctx: Context,
  provider: OidcProvider,
  identity: OidcIdentity,
  { linkTo, redirect }: Flow,
  { facts }: Origin,
): Applied {
  const email = identity.email === null ? null : normalizeEmail(identity.email)
  try {
    return inTransaction(ctx.db, (tx): Applied => {
      const outcome = decide(ctx, tx, provider, { ...identity, email }, { linkTo, redirect })
      if (outcome.do === 'refuse') return outcome
      const userId =
        outcome.do === 'sign-up' ? addUser(ctx, tx, email ?? '', redirect, facts) : outcome.userId
      const user = findUser(tx, userId)
      if (user === undefined) throw new AppError('unauthenticated', 'The account was deleted')
      if (outcome.do !== 'sign-in') connect(ctx, tx, provider, identity, user, facts)
      return outcome.do === 'connect' ? outcome : { do: 'enter', user }
    })
  } catch (error) {
    if (isUniqueViolation(error)) return { do: 'refuse', problem: 'provider-account-exists' }
    throw error
  }
}

function decide(
  ctx: Context,
  tx: DbOrTx,
  provider: OidcProvider,
  { subject, email, isEmailVerified }: OidcIdentity,
  { linkTo, redirect }: Pick<Flow, 'linkTo' | 'redirect'>,
): OidcOutcome {
  const account = email === null ? undefined : findUserByEmail(tx, email)
  return decideOidc({
    connectedTo: findConnection(tx, provider.id, subject)?.userId ?? null,
    linkTo,
    isLinkedElsewhere: linkTo !== null && hasConnection(tx, linkTo, provider.id),
    email,
    isEmailVerified,
    account: account === undefined ? null : { id: account.id, isUntouched: isUntouched(tx, account) },
    allowSignup: loginMethods(ctx, siteOf(ctx, redirect)).allowSignup,
  })
}

const isUntouched = (tx: DbOrTx, user: User): boolean =>
  user.passwordHash === null && !hasConnection(tx, user.id)

/** The site that the person came from, which behind the gate says who may sign up. */
const siteOf = (ctx: Context, redirect: string | null) =>
  redirect === null || redirect.startsWith('/') ? null : ctx.siteAt(new URL(redirect).hostname)

function addUser(
  ctx: Context,
  tx: DbOrTx,
  email: string,
  redirect: string | null,
  { ip }: RequestFacts,
): string {
  const user = newAccount(ctx, { email, passwordHash: null, role: 'member' })
  insertUser(tx, user)
  const site = siteOf(ctx, redirect)
  if (site !== null && readSettings(ctx).requireProjectMembership.value)
    joinAsGuest(ctx, tx, site.projectId, user.id)
  audit(
    ctx,
    tx,
    { kind: 'anonymous', ip },
    { action: 'user.create', target: { kind: 'user', id: user.id }, after: { email, role: user.role } },
  )
  return user.id
}

function connect(
  ctx: Context,
  tx: DbOrTx,
  provider: OidcProvider,
  { subject, email }: OidcIdentity,
  user: User,
  { ip }: RequestFacts,
): void {
  if (findConnection(tx, provider.id, subject)?.userId === user.id) return
  insertConnection(tx, {
    provider: provider.id,
    subject,
    userId: user.id,
    email: email ?? '',
    connectedAt: ctx.now(),
  })
  audit(
    ctx,
    tx,
    { kind: 'anonymous', ip },
    { action: 'user.connect', target: { kind: 'user', id: user.id }, after: { provider: provider.id } },
  )
}
