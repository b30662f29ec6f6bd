import type { Actor, Context, RequestFacts, SessionUser } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import { type DbOrTx, inTransaction, isUniqueViolation, refuseTaken } from '../../db/open.ts'
import { normalizeEmail } from '../../domain/email.ts'
import { AppError } from '../../domain/errors.ts'
import type { GlobalRole } from '../../domain/roles.ts'
import { findOpenInvitation, redeemInvitation } from '../invitations/service.ts'
import { joinAsGuest, standingOf } from '../members/service.ts'
import { allowsSignup } from '../projects/service.ts'
import { readSettings } from '../settings/service.ts'
import { findUserByEmail, insertUser, newAccount, publicUser, type User } from '../users/accounts.ts'
import { hasAdmin } from '../users/has-admin.ts'
import { type Origin, passesGate } from './caller.ts'
import {
  actorOf,
  type Credentials,
  checkPassword,
  enter,
  type OnEntry,
  refuseLocked,
  type SignedIn,
} from './credentials.ts'
import { judgeCode } from './mfa.ts'
import { deleteSession } from './queries.ts'
import { openSession, resolveSession, rotateCookies, sessionCookies } from './sessions.ts'

const emailExists = () =>
  new AppError('conflict', 'An account with this email already exists. Sign in instead.', {
    code: 'EMAIL_ALREADY_EXISTS_ERROR',
  })

const signupDisabled = (where: string) =>
  new AppError('forbidden', `Public signups are not enabled ${where}. Ask for an invitation.`, {
    code: 'PUBLIC_SIGNUP_DISABLED',
  })

/** Once true, always true: the last admin can be neither demoted nor deleted. */
export function workspaceHasAdmin(ctx: Context): boolean {
  const known = adminSeen.has(ctx) || hasAdmin(ctx.db)
  if (known) adminSeen.add(ctx)
  return known
}
const adminSeen = new WeakSet<Context>()

/** Registers, or signs a member in. `isNew`: an account or a membership was made. spec: Project membership gate. */
export async function signUp(
  ctx: Context,
  input: Credentials & { invitationToken?: string | undefined },
  origin: Origin,
): Promise<SignedIn & { isNew: boolean }> {
  if (input.invitationToken) return signUpInvited(ctx, input, input.invitationToken, origin)
  const projectId = gatedProject(ctx, origin)
  return projectId === null
    ? signUpToWorkspace(ctx, input, origin)
    : signUpToSite(ctx, input, origin, projectId)
}

/** The project that decides about signing up here; null where the workspace does. */
const gatedProject = (ctx: Context, { facts }: Origin): string | null =>
  readSettings(ctx).requireProjectMembership.value ? (facts.site?.projectId ?? null) : null

/** In the transaction: while the password was hashed it may have been turned off, or the project deleted. */
function refuseClosed(ctx: Context, origin: Origin, projectId: string | null): void {
  const isOpen =
    projectId === null ? readSettings(ctx).allowPublicSignups.value : allowsSignup(ctx, projectId)
  if (!isOpen || gatedProject(ctx, origin) !== projectId)
    throw signupDisabled(projectId === null ? 'on this workspace' : 'for this site')
}

async function signUpToWorkspace(ctx: Context, input: Credentials, origin: Origin) {
  if (!readSettings(ctx).allowPublicSignups.value) throw signupDisabled('on this workspace')
  const email = normalizeEmail(input.email)
  if (findUserByEmail(ctx.db.orm, email) !== undefined) {
    const known = await checkPassword(ctx, email, input.password, origin)
    if (known === undefined) ctx.lockout.fail(email, origin.facts.ip)
    throw emailExists()
  }
  const user = await register(ctx, email, input.password, 'member')
  const before = () => refuseClosed(ctx, origin, null)
  return { ...enterNew(ctx, user, origin, { before }), isNew: true }
}

async function signUpToSite(ctx: Context, input: Credentials, origin: Origin, projectId: string) {
  const email = normalizeEmail(input.email)
  const isOpen = allowsSignup(ctx, projectId)
  const known = findUserByEmail(ctx.db.orm, email)
  const joining = (userId: string) => (tx: DbOrTx) => {
    refuseClosed(ctx, origin, projectId)
    joinAsGuest(ctx, tx, projectId, userId)
  }
  if (known === undefined && isOpen) {
    refuseLocked(ctx, email, origin.facts.ip)
    const user = await register(ctx, email, input.password, 'member')
    return { ...enterNew(ctx, user, origin, { onEntry: joining(user.id) }), isNew: true }
  }
  const user = await checkPassword(ctx, email, input.password, origin)
  const isMember = user !== undefined && passesGate(ctx, origin.facts.site, user.id)
  if (user === undefined || !(isMember || isOpen)) {
    ctx.lockout.fail(email, origin.facts.ip)
    throw isOpen ? emailExists() : signupDisabled('for this site')
  }
  const factor = await judgeCode(ctx, user, input.code)
  const join = isMember ? undefined : joining(user.id)
  return { ...enter(ctx, user, factor, origin, join), isNew: !isMember }
}

/**
 * An invited email makes its account, or proves the one it has, and joins the project: signups need not be allowed.
 * Throws 400 `INVITATION_INVALID` for a link that is used up, of another email, or of another site than this host's.
 */
async function signUpInvited(ctx: Context, input: Credentials, token: string, origin: Origin) {
  const email = normalizeEmail(input.email)
  const { projectId } = openInvitation(ctx, ctx.db.orm, token, email, origin)
  const redeem: OnEntry = (tx, actor) => {
    const invitation = openInvitation(ctx, tx, token, email, origin)
    redeemInvitation(ctx, tx, actor, invitation)
  }
  if (findUserByEmail(ctx.db.orm, email) === undefined) {
    refuseLocked(ctx, email, origin.facts.ip)
    const user = await register(ctx, email, input.password, 'member')
    return { ...enterNew(ctx, user, origin, { onEntry: redeem }), isNew: true }
  }
  const user = await checkPassword(ctx, email, input.password, origin)
  if (user === undefined) {
    ctx.lockout.fail(email, origin.facts.ip)
    throw emailExists()
  }
  const factor = await judgeCode(ctx, user, input.code)
  const wasMember = standingOf(ctx, user.id, projectId).isMember
  return { ...enter(ctx, user, factor, origin, redeem), isNew: !wasMember }
}

function openInvitation(ctx: Context, db: DbOrTx, token: string, email: string, { facts }: Origin) {
  const found = findOpenInvitation(ctx, token, db)
  const isForHere = facts.site === null || facts.site.projectId === found?.projectId
  if (found === undefined || found.email !== email || !isForHere)
    throw new AppError('invalid', 'This invitation was used, has expired or is for another email', {
      code: 'INVITATION_INVALID',
    })
  return found
}

async function register(ctx: Context, email: string, password: string, role: GlobalRole): Promise<User> {
  return newAccount(ctx, { email, passwordHash: await ctx.passwords.hash(password), role })
}

/** Stores the new account and signs it in, in one transaction. Two at once: the second is told that it exists. */
function enterNew(
  ctx: Context,
  user: User,
  origin: Origin,
  { before, onEntry }: { before?: () => void; onEntry?: OnEntry } = {},
): SignedIn {
  try {
    const { id: sessionId, tokens } = inTransaction(ctx.db, (tx) => {
      before?.()
      insertUser(tx, user)
      const session = openSession(ctx, tx, user.id, { ip: origin.facts.ip, userAgent: origin.userAgent })
      const actor = actorOf(user, session.id, origin)
      audit(ctx, tx, actor, {
        action: 'user.create',
        target: { kind: 'user', id: user.id },
        after: publicUser(user),
      })
      onEntry?.(tx, actor)
      return session
    })
    return { user: publicUser(user), sessionId, setCookies: sessionCookies(ctx, tokens, origin.facts) }
  } catch (error) {
    if (isUniqueViolation(error)) throw emailExists()
    throw error
  }
}

/** Makes the first admin and signs them in. Whether the caller may is `setup/service.ts`'s to say. */
export async function createFirstAdmin(ctx: Context, input: Credentials, origin: Origin): Promise<SignedIn> {
  refuseSecondAdmin(ctx)
  const user = await register(ctx, normalizeEmail(input.email), input.password, 'admin')
  return enterNew(ctx, user, origin, { before: () => refuseSecondAdmin(ctx) })
}

/** Throws 409 once there is an admin. */
export function refuseSecondAdmin({ db }: Context): void {
  if (hasAdmin(db)) throw new AppError('conflict', 'The set-up is complete: there is an admin already')
}

/** An account made by the operator: the command line and the first start. */
export async function createAccount(
  ctx: Context,
  input: Credentials & { role: GlobalRole },
  actor: Actor,
): Promise<SessionUser> {
  const user = await register(ctx, normalizeEmail(input.email), input.password, input.role)
  inTransaction(ctx.db, (tx) => {
    refuseTaken(`There is an account for ${user.email} already`, () => insertUser(tx, user))
    audit(ctx, tx, actor, {
      action: 'user.create',
      target: { kind: 'user', id: user.id },
      after: publicUser(user),
    })
  })
  return publicUser(user)
}

/** Ends the session of the cookies, wherever it is used, gate or not. Throws 401 without one. */
export function signOut(ctx: Context, cookieHeader: string | null, facts: RequestFacts): void {
  const found = resolveSession(ctx, cookieHeader, facts)
  if (found === undefined) throw new AppError('unauthenticated', 'Nobody is signed in')
  const { id, user } = found.session
  inTransaction(ctx.db, (tx) => {
    deleteSession(tx, id)
    audit(
      ctx,
      tx,
      { kind: 'user', user, sessionId: id, ip: facts.ip },
      { action: 'session.end', target: { kind: 'session', id } },
    )
  })
}

/** New tokens for a good refresh token. Behind a gate that refuses the person: 401, and the cookies stay. */
export function refresh(ctx: Context, cookieHeader: string | null, facts: RequestFacts): SignedIn {
  const unauthenticated = () => new AppError('unauthenticated', 'The session has ended: sign in again')
  const rotated = rotateCookies(ctx, cookieHeader, facts, (userId) => passesGate(ctx, facts.site, userId))
  if (rotated === undefined) throw unauthenticated()
  const { id: sessionId, user } = rotated.session
  return { user: publicUser(user), sessionId, setCookies: rotated.setCookies }
}
