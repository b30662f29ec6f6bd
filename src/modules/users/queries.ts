import { and, asc, desc, eq, inArray, isNotNull, isNull, lt, or, type SQL, sql } from 'drizzle-orm'
import { type DbOrTx, isRefusedBy, isUniqueViolation } from '../../db/open.ts'
import { emailKeys, users } from '../../db/schema.ts'
import { countRows, inPage } from '../../db/select.ts'
import type { Page } from '../../domain/pagination.ts'

export type User = typeof users.$inferSelect

export function findUser(db: DbOrTx, id: string): User | undefined {
  return db.select().from(users).where(eq(users.id, id)).get()
}

/**
 * The account that is stored with the spelling `earlier`; else the oldest whose email is `normal`, however it is stored.
 * Reads indexes only.
 */
export function findUserByEmail(db: DbOrTx, earlier: string, normal: string): User | undefined {
  const spelledOtherwise = db
    .select({ id: emailKeys.userId })
    .from(emailKeys)
    .where(eq(emailKeys.email, normal))
  return db
    .select()
    .from(users)
    .where(or(inArray(users.email, [earlier, normal]), inArray(users.id, spelledOtherwise)))
    .orderBy(desc(eq(users.email, earlier)), asc(users.createdAt), asc(users.id))
    .limit(1)
    .get()
}

/** An account that shares its email with others, which spell it otherwise. `normal` is the form that they share. */
type TwinRow = { normal: string; id: string; email: string; createdAt: number }

/** In the order of their emails, the oldest account of each first. */
export function selectTwins(db: DbOrTx): TwinRow[] {
  return db.all<TwinRow>(sql`
    WITH spelled AS (
      SELECT email AS normal, user_id AS id FROM email_keys
      UNION SELECT k.email, u.id FROM email_keys k JOIN users u ON u.email = k.email)
    SELECT s.normal, u.id, u.email, u.created_at AS createdAt FROM spelled s JOIN users u ON u.id = s.id
    WHERE s.normal IN (SELECT normal FROM spelled GROUP BY normal HAVING count(*) > 1)
    ORDER BY s.normal, u.created_at, u.id`)
}

type UserSort = 'email' | 'createdAt'
type UserFilter = {
  /** The complete address as it is stored. */
  email: string | undefined
  /** Parts of it, of which one is enough. */
  search: readonly string[] | undefined
  isSuspended: boolean | undefined
}

export function selectUsers(
  db: DbOrTx,
  filter: UserFilter,
  page: Page<UserSort>,
): { rows: User[]; total: number } {
  const where = matching(filter)
  const found = db.select().from(users).where(where).$dynamic()
  return { rows: inPage(found, page, users[page.sort], users.id).all(), total: countRows(db, users, where) }
}

const matching = ({ email, search, isSuspended }: UserFilter): SQL | undefined =>
  and(
    email === undefined ? undefined : eq(users.email, email),
    search && or(...search.map(holding)),
    isSuspended === undefined ? undefined : (isSuspended ? isNotNull : isNull)(users.suspendedAt),
  )

const holding = (part: string): SQL => sql`(instr(${users.email}, ${part}) > 0 OR ${users.id} IN
  (SELECT ${emailKeys.userId} FROM ${emailKeys} WHERE instr(${emailKeys.email}, ${part}) > 0))`

/** Whether another account has that email, in this spelling or another. */
export const isEmailTaken = (error: unknown): boolean =>
  isUniqueViolation(error) || isRefusedBy(error, 'email taken')

/** `email` is in its normal form. May throw what `isEmailTaken` knows, as `updateUser` may. */
export function insertUser(db: DbOrTx, user: User): void {
  db.insert(users).values(user).run()
}

export function updateUser(
  db: DbOrTx,
  id: string,
  patch: Partial<Omit<User, 'id' | 'totpLastStep' | 'createdAt'>>,
): void {
  db.update(users).set(patch).where(eq(users.id, id)).run()
}

/** `lastStep`: the step of the code that confirmed it, which is used up by that. */
export function turnOnTotp(db: DbOrTx, id: string, secret: string, lastStep: number, now: number): void {
  db.update(users)
    .set({ totpSecret: secret, totpLastStep: lastStep, updatedAt: now })
    .where(eq(users.id, id))
    .run()
}

/** True when the step is later than every used one: two requests with the same code cannot both succeed. */
export function claimTotpStep(db: DbOrTx, id: string, step: number): boolean {
  const claimed = db
    .update(users)
    .set({ totpLastStep: step })
    .where(and(eq(users.id, id), lt(users.totpLastStep, step)))
    .returning({ id: users.id })
    .all()
  return claimed.length === 1
}

/** The global admin with the oldest account, of those who are not suspended. */
export function findFirstAdmin(db: DbOrTx): User | undefined {
  return db
    .select()
    .from(users)
    .where(and(eq(users.role, 'admin'), isNull(users.suspendedAt)))
    .orderBy(asc(users.createdAt), asc(users.id))
    .limit(1)
    .get()
}

export function deleteUserRow(db: DbOrTx, id: string): void {
  db.delete(users).where(eq(users.id, id)).run()
}
