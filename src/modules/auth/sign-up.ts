import type { Context } from '../../context.ts'
import type { DbOrTx } from '../../db/open.ts'
import { AppError } from '../../domain/errors.ts'
import { findOpenInvitation, redeemInvitation } from '../invitations/service.ts'
import { joinAsGuest, standingOf } from '../members/service.ts'
import { type Addressee, addresseeOf, newAccountWithPassword, type User } from '../users/accounts.ts'
import type { Origin } from './caller.ts'
import { checkPassword, refuseLocked } from './check-password.ts'
import { emailExists, enter, enterNew, type OnEntry } from './enter.ts'
import { gatedProject, passesGate } from './gate.ts'
import { isSignUpOpen } from './login-methods.ts'
import type { SignedIn } from './sessions.ts'
import type { Credentials } from './sign-in.ts'

/** Who signs up, with what they typed. */
type Applicant = Omit<Credentials, 'email'> & Addressee

/** `isNew`: an account or a membership was made. */
type SignedUp = SignedIn & { isNew: boolean }

/** Registers, or signs a member in. spec: Project membership gate. */
export async function signUp(
  ctx: Context,
  { invitationToken, ...typed }: Credentials & { invitationToken?: string | undefined },
  origin: Origin,
): Promise<SignedUp> {
  const input = { ...typed, ...addresseeOf(ctx.db.orm, typed.email) }
  if (invitationToken) return signUpInvited(ctx, input, invitationToken, origin)
  const projectId = gatedProject(ctx, origin.facts.site)
  return projectId === null
    ? signUpToWorkspace(ctx, input, origin)
    : signUpToSite(ctx, input, origin, projectId)
}

async function signUpToWorkspace(ctx: Context, input: Applicant, origin: Origin): Promise<SignedUp> {
  const { email, password } = input
  if (!isSignUpOpen(ctx, null)) throw signUpDisabled(null)
  if (input.user !== undefined) {
    const known = await checkPassword(ctx, input, password, origin.facts.ip)
    if (known === undefined) ctx.lockout.fail(email, origin.facts.ip)
    throw emailExists()
  }
  const user = await newMember(ctx, input)
  return {
    ...(await enterNew(ctx, user, origin, { before: () => refuseClosed(ctx, origin, null) })),
    isNew: true,
  }
}

async function signUpToSite(
  ctx: Context,
  input: Applicant,
  origin: Origin,
  projectId: string,
): Promise<SignedUp> {
  const { email, password, code } = input
  const { ip } = origin.facts
  const isOpen = isSignUpOpen(ctx, projectId)
  const joining = (userId: string) => (tx: DbOrTx) => {
    refuseClosed(ctx, origin, projectId)
    joinAsGuest(ctx, tx, projectId, userId)
  }
  if (isOpen && input.user === undefined) {
    refuseLocked(ctx, email, ip)
    const user = await newMember(ctx, input)
    return { ...(await enterNew(ctx, user, origin, { onEntry: joining(user.id) })), isNew: true }
  }
  const user = await checkPassword(ctx, input, password, ip)
  const isMember = user !== undefined && passesGate(ctx, origin.facts.site, user.id)
  if (user === undefined || !(isMember || isOpen)) {
    ctx.lockout.fail(email, ip)
    throw isOpen ? emailExists() : signUpDisabled(projectId)
  }
  const join = isMember ? undefined : joining(user.id)
  return { ...(await enter(ctx, user, code, origin, join)), isNew: !isMember }
}

/** In the transaction: sign-up may have been turned off, or the project deleted, during password hashing. */
function refuseClosed(ctx: Context, origin: Origin, projectId: string | null): void {
  if (!isSignUpOpen(ctx, projectId) || gatedProject(ctx, origin.facts.site) !== projectId)
    throw signUpDisabled(projectId)
}

const signUpDisabled = (projectId: string | null): AppError => {
  const where = projectId === null ? 'on this workspace' : 'for this site'
  return new AppError('forbidden', `Public signups are not enabled ${where}. Ask for an invitation.`, {
    code: 'PUBLIC_SIGNUP_DISABLED',
  })
}

/**
 * Makes the account of an invited email, or checks the password of the one it has, and joins the project, even where
 * sign-up is off. Throws 400 `INVITATION_INVALID` for a link that was used, is for another email, or is for another
 * site than this host's.
 */
async function signUpInvited(
  ctx: Context,
  input: Applicant,
  token: string,
  origin: Origin,
): Promise<SignedUp> {
  const { email, password, code } = input
  const { ip } = origin.facts
  const { projectId } = openInvitation(ctx, ctx.db.orm, token, email, origin)
  const redeem: OnEntry = (tx, actor) => {
    const invitation = openInvitation(ctx, tx, token, email, origin)
    redeemInvitation(ctx, tx, actor, invitation)
  }
  if (input.user === undefined) {
    refuseLocked(ctx, email, ip)
    const user = await newMember(ctx, input)
    return { ...(await enterNew(ctx, user, origin, { onEntry: redeem })), isNew: true }
  }
  const user = await checkPassword(ctx, input, password, ip)
  if (user === undefined) {
    ctx.lockout.fail(email, ip)
    throw emailExists()
  }
  const wasMember = standingOf(ctx, projectId, user.id).isMember
  return { ...(await enter(ctx, user, code, origin, redeem)), isNew: !wasMember }
}

function openInvitation(ctx: Context, db: DbOrTx, token: string, email: string, { facts }: Origin) {
  const found = findOpenInvitation(ctx, token, db)
  const isForHere = facts.site === null || facts.site.projectId === found?.projectId
  if (found === undefined || addresseeOf(db, found.email).email !== email || !isForHere)
    throw new AppError('invalid', 'This invitation has been used, has expired or is for another email', {
      code: 'INVITATION_INVALID',
    })
  return found
}

const newMember = (ctx: Context, { email, password }: Applicant): Promise<User> =>
  newAccountWithPassword(ctx, { email, password, role: 'member' })
