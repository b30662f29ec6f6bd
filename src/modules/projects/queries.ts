import { and, asc, eq } from 'drizzle-orm'
import type { Db, DbOrTx } from '../../db/open.ts'
import { projects } from '../../db/schema.ts'
import { inList } from '../../db/select.ts'
import { prepared } from '../../db/statements.ts'
import { deleteAliasesOf } from '../aliases/delete-all.ts'
import { deleteDeploymentsOf } from '../deployments/delete-all.ts'
import { deleteInvitationsOf } from '../invitations/delete-all.ts'
import { deleteMembersOf } from '../members/delete-all.ts'
import { deleteRunsOf } from '../runs/delete-all.ts'
import { deleteSchemasOf } from '../schemas/delete-all.ts'

export type Project = typeof projects.$inferSelect

export function findProject(db: DbOrTx, id: string): Project | undefined {
  return db.select().from(projects).where(eq(projects.id, id)).get()
}

/** Compares owner and name case-insensitively, by the columns' collation. */
export function findProjectByName(db: DbOrTx, owner: string, name: string): Project | undefined {
  return db
    .select()
    .from(projects)
    .where(and(eq(projects.owner, owner), eq(projects.name, name)))
    .get()
}

/** Ordered by name; any number of ids. */
export function listProjectsById(db: DbOrTx, ids: readonly string[]): Project[] {
  return db
    .select()
    .from(projects)
    .where(inList(projects.id, ids))
    .orderBy(asc(projects.owner), asc(projects.name))
    .all()
}

/** The names of a project. */
export type ProjectNames = Pick<Project, 'id' | 'owner' | 'name' | 'displayName'>

const NAMES = 'SELECT id, owner, name, display_name AS displayName FROM projects'
const BY_NAME = 'ORDER BY owner, name'

export const listAllNames = (db: Db): ProjectNames[] =>
  prepared<ProjectNames>(db, `${NAMES} ${BY_NAME}`).all()

export const listNamesById = (db: Db, ids: readonly string[]): ProjectNames[] =>
  prepared<ProjectNames>(db, `${NAMES} WHERE id IN (SELECT value FROM json_each(?)) ${BY_NAME}`).all(
    JSON.stringify(ids),
  )

export function insertProject(db: DbOrTx, project: Project): void {
  db.insert(projects).values(project).run()
}

type ProjectPatch = Partial<Omit<Project, 'id' | 'owner' | 'name' | 'createdAt'>>

export function updateProject(db: DbOrTx, id: string, patch: ProjectPatch): void {
  db.update(projects).set(patch).where(eq(projects.id, id)).run()
}

/** Deletes the project with everything in it. The row itself deletes only what is never much. */
export function deleteProjectRow(db: Db, id: string): void {
  deleteRunsOf(db, id)
  deleteSchemasOf(db, id)
  deleteAliasesOf(db, id)
  deleteDeploymentsOf(db, id)
  deleteInvitationsOf(db, id)
  deleteMembersOf(db, id)
  db.orm.delete(projects).where(eq(projects.id, id)).run()
}
