import type { Context } from '../../context.ts'
import { actorFacts, audit } from '../../db/audit.ts'
import { type DbOrTx, inTransaction } from '../../db/open.ts'
import { inTidyingTransaction } from '../../db/tidying.ts'
import type { Actor, SessionUser } from '../../domain/actor.ts'
import { earlierEmail, emailParts, normalEmail } from '../../domain/email.ts'
import { AppError } from '../../domain/errors.ts'
import { isoTime } from '../../domain/iso-time.ts'
import { type Paginated, type PaginationQuery, paginated, parsePagination } from '../../domain/pagination.ts'
import type { GlobalRole } from '../../domain/roles.ts'
import type { KeysFate } from '../api-keys/model.ts'
import { reasonAgainst, settleKeys } from '../api-keys/take-over.ts'
import { authorizeAgain, type Grant } from '../auth/authorize.ts'
import { endOneTimeTokens } from '../auth/one-time-tokens.ts'
import { createPasswordLink } from '../auth/password-links.ts'
import { listOwnedProjects } from '../members/service.ts'
import { type InvitationMail, queueInvitation } from '../notices/outbox.ts'
import { accountInvitation } from '../notices/texts.ts'
import { tellHooks } from '../webhooks/outbox.ts'
import {
  addresseeOf,
  getUserRow,
  newAccount,
  newAccountWithPassword,
  newEmail,
  publicUser,
} from './accounts.ts'
import { keepLastAdmin } from './last-admin.ts'
import type { NewUser, UserChange, UserView } from './model.ts'
import {
  deleteUserRow,
  insertUser,
  isEmailTaken,
  selectTwins,
  selectUsers,
  type User,
  updateUser,
} from './queries.ts'
import { userView, userViews } from './view.ts'

export type { UserView } from './model.ts'

export function listUsers(
  ctx: Context,
  _grant: Grant,
  query: PaginationQuery & {
    email?: string | undefined
    search?: string | undefined
    status?: 'active' | 'suspended' | undefined
  },
): Paginated<UserView> {
  const page = parsePagination(query, {
    sortable: ['email', 'createdAt'] as const,
    defaultSort: 'createdAt',
    defaultOrder: 'asc',
  })
  const filter = {
    email: storedEmail(ctx, query.email),
    search: query.search ? emailParts(query.search) : undefined,
    isSuspended: query.status === undefined ? undefined : query.status === 'suspended',
  }
  const { rows, total } = selectUsers(ctx.db.orm, filter, page)
  return paginated(userViews(ctx.db.orm, rows), total, page)
}

/** The stored spelling of the account that a filter names; a text that is no email finds nobody. */
function storedEmail(ctx: Context, text: string | undefined): string | undefined {
  if (!text) return undefined
  return normalEmail(text) === null ? earlierEmail(text) : addresseeOf(ctx.db.orm, text).email
}

/** Accounts of before that share an email, the oldest first: spellings of nobody's mean that one. */
export type Twins = readonly { id: string; email: string; createdAt: string }[]

export const listTwins = (ctx: Context, _grant: Grant): Twins[] => findTwins(ctx)

/** The same for the operator. contract 12.7. */
export const findTwins = ({ db }: Pick<Context, 'db'>): Twins[] =>
  [...Map.groupBy(selectTwins(db.orm), ({ normal }) => normal).values()].map((rows) =>
    rows.map(({ id, email, createdAt }) => ({ id, email, createdAt: isoTime(createdAt) })),
  )

export function getUser(ctx: Context, _grant: Grant, id: string): UserView {
  return userView(ctx.db.orm, getUserRow(ctx.db.orm, { userId: id }))
}

/**
 * Makes an account. Without a password, the result contains a link that sets the first one, shown only here. Throws 409
 * for an email that has an account.
 */
export async function createUser(
  ctx: Context,
  grant: Grant,
  input: NewUser,
): Promise<UserView & { inviteUrl?: string; mail?: InvitationMail }> {
  const passwordHash = input.password === undefined ? null : await ctx.passwords.hash(input.password)
  const user = newAccount(ctx, {
    email: newEmail(input.email),
    passwordHash,
    role: input.role ?? 'member',
  })
  return inTransaction(ctx.db, (tx) => {
    authorizeAgain(ctx, grant, 'workspace:administer')
    addAccount(ctx, tx, grant.actor, user)
    if (passwordHash !== null) return userView(tx, user)
    const data = () => ({ email: user.email, role: user.role })
    tellHooks(ctx, tx, { event: 'user.invited', actor: grant.actor, projectId: null, data })
    return { ...userView(tx, user), ...inviteAccount(ctx, tx, grant.actor, user) }
  })
}

function inviteAccount(
  ctx: Context,
  tx: DbOrTx,
  actor: Actor,
  { id, email }: User,
): { inviteUrl: string; mail: InvitationMail } {
  const { url, expiresAt } = createPasswordLink(ctx, tx, id, 'invite')
  const facts = { by: actorFacts(actor).name, workspace: ctx.adminUrl() }
  const text = accountInvitation(facts, { url, until: isoTime(expiresAt) })
  return { inviteUrl: url, mail: queueInvitation(ctx, tx, { address: email, userId: id }, text) }
}

/** Makes an account for the operator: on the command line and at the first start. Throws 409 for a known email. */
export async function createAccount(
  ctx: Context,
  input: { email: string; password: string; role: GlobalRole },
  actor: Actor,
): Promise<SessionUser> {
  const user = await newAccountWithPassword(ctx, input)
  inTransaction(ctx.db, (tx) => addAccount(ctx, tx, actor, user))
  return publicUser(user)
}

function addAccount(ctx: Context, tx: DbOrTx, actor: Actor, user: User): void {
  refuseTaken(user.email, () => insertUser(tx, user))
  audit(ctx, tx, actor, { action: 'user.create', target: targetOf(user), after: publicUser(user) })
}

/**
 * Sessions stay and get the new role from the next request on. A new email ends the links sent to the old one. The API
 * keys of an admin who stops being one are suspended or the caller's, and those of one who is admin again are good.
 * Throws 400 when the last admin would be demoted, 409 for an email that another account has.
 */
export function changeUser(ctx: Context, grant: Grant, id: string, change: UserChange): UserView {
  return inTransaction(ctx.db, (tx) => {
    const before = getUserRow(tx, { userId: id })
    const email = changedEmail(before, change.email)
    const after = { ...before, email, role: change.role ?? before.role }
    if (after.email === before.email && after.role === before.role) return userView(tx, before)
    const patch = { email: after.email, role: after.role, updatedAt: ctx.now() }
    refuseTaken(email, () => keepLastAdmin('demoted', () => updateUser(tx, id, patch)))
    if (email !== before.email) endOneTimeTokens(tx, id, ['reset'])
    if (after.role !== before.role) settleKeysOf(ctx, tx, grant, after, change.keys)
    audit(ctx, tx, grant.actor, {
      action: 'user.change',
      target: targetOf(before),
      before: publicUser(before),
      after: publicUser(after),
      undo: email === before.email ? { before: before.role, after: after.role } : undefined,
    })
    return userView(tx, after)
  })
}

function settleKeysOf(ctx: Context, tx: DbOrTx, grant: Grant, user: User, fate: KeysFate = 'suspend'): void {
  const isLost = user.role !== 'admin'
  settleKeys(ctx, tx, grant, {
    makerId: user.id,
    reason: reasonAgainst(user),
    fate: isLost ? fate : 'suspend',
  })
}

/**
 * Deletes the account with its sessions, roles and memberships. Its API keys are suspended or the caller's. Throws 400 for
 * the last admin, 409 for an owner.
 */
export function deleteUser(ctx: Context, grant: Grant, id: string, fate: KeysFate = 'suspend'): void {
  inTidyingTransaction(ctx.db, (tx) => {
    const user = getUserRow(tx, { userId: id })
    // Who is the last administrator is told so even when they own projects: giving those away would not help.
    keepLastAdmin('deleted', () => updateUser(tx, id, { role: 'member' }))
    const owned = listOwnedProjects(tx, id).map(({ owner, name }) => `${owner}/${name}`)
    if (owned.length > 0)
      throw new AppError(
        'conflict',
        `${user.email} owns ${owned.join(', ')}. Transfer the ownership or delete the project first.`,
      )
    settleKeys(ctx, tx, grant, { makerId: id, reason: 'maker_deleted', fate })
    deleteUserRow(tx, id)
    audit(ctx, tx, grant.actor, { action: 'user.delete', target: targetOf(user), before: publicUser(user) })
  })
}

/** A link that sets a new password once, within an hour; the account's older links end. Throws 404. */
export function createResetLink(ctx: Context, grant: Grant, id: string): { url: string; expiresAt: string } {
  return inTransaction(ctx.db, (tx) => {
    const user = getUserRow(tx, { userId: id })
    const { url, expiresAt } = createPasswordLink(ctx, tx, id, 'reset')
    audit(ctx, tx, grant.actor, { action: 'user.reset-link', target: targetOf(user) })
    return { url, expiresAt: isoTime(expiresAt) }
  })
}

/** The stored spelling of before stays when it is sent back: its normal form may be that of another account. */
function changedEmail({ email }: User, asked: string | undefined): string {
  return asked === undefined || earlierEmail(asked) === email ? email : newEmail(asked)
}

function refuseTaken(email: string, write: () => void): void {
  try {
    write()
  } catch (error) {
    if (isEmailTaken(error)) throw new AppError('conflict', `There is already an account for ${email}`)
    throw error
  }
}

const targetOf = ({ id, email }: { id: string; email: string }) => ({ kind: 'user', id, name: email })
