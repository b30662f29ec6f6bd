import { and, asc, eq, lt, type SQL, sql } from 'drizzle-orm'
import type { DbOrTx } from '../../db/open.ts'
import { users } from '../../db/schema.ts'
import { countRows, inPage } from '../../db/select.ts'
import type { Page } from '../../domain/pagination.ts'

export type User = typeof users.$inferSelect

export function findUser(db: DbOrTx, id: string): User | undefined {
  return db.select().from(users).where(eq(users.id, id)).get()
}

export function findUserByEmail(db: DbOrTx, email: string): User | undefined {
  return db.select().from(users).where(eq(users.email, email)).get()
}

type UserSort = 'email' | 'createdAt'
type UserFilter = {
  /** The complete address, normalised. */
  email: string | undefined
  /** A part of it, normalised. */
  search: string | undefined
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

const matching = ({ email, search }: UserFilter): SQL | undefined =>
  and(
    email === undefined ? undefined : eq(users.email, email),
    search === undefined ? undefined : sql`instr(${users.email}, ${search}) > 0`,
  )

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

/** The global admin with the oldest account. */
export function findFirstAdmin(db: DbOrTx): User | undefined {
  return db
    .select()
    .from(users)
    .where(eq(users.role, 'admin'))
    .orderBy(asc(users.createdAt), asc(users.id))
    .limit(1)
    .get()
}

export function deleteUserRow(db: DbOrTx, id: string): void {
  db.delete(users).where(eq(users.id, id)).run()
}
