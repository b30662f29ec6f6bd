import { and, asc, eq, type SQL, sql } from 'drizzle-orm'
import type { DbOrTx } from '../../db/open.ts'
import { permissions, projects, users } from '../../db/schema.ts'
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
  /** The whole address, normalised. */
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
  patch: Partial<Pick<User, 'email' | 'role' | 'updatedAt'>>,
): void {
  db.update(users).set(patch).where(eq(users.id, id)).run()
}

export function deleteUserRow(db: DbOrTx, id: string): void {
  db.delete(users).where(eq(users.id, id)).run()
}

export function listOwnedProjects(db: DbOrTx, userId: string): { owner: string; name: string }[] {
  return db
    .select({ owner: projects.owner, name: projects.name })
    .from(permissions)
    .innerJoin(projects, eq(projects.id, permissions.projectId))
    .where(and(eq(permissions.userId, userId), eq(permissions.role, 'owner')))
    .orderBy(asc(projects.owner), asc(projects.name))
    .all()
}
