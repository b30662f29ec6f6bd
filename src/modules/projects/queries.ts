import { and, asc, eq } from 'drizzle-orm'
import type { Db, DbOrTx } from '../../db/open.ts'
import { projects, removedProjects } from '../../db/schema.ts'
import { inList } from '../../db/select.ts'
import { prepared } from '../../db/statements.ts'
import { deleteSomeUndoStatesOf } from '../../db/undo-states.ts'
import { deleteSomeAliasesOf } from '../aliases/delete-all.ts'
import { deleteKeysOf } from '../api-keys/delete-all.ts'
import { deleteSomeDeploymentsOf } from '../deployments/delete-all.ts'
import { deleteDomainsOf } from '../domains/delete-all.ts'
import { deleteSomeFilesOf } from '../files/delete-all.ts'
import { deleteSomeInvitationsOf } from '../invitations/delete-all.ts'
import { deleteOwnerOf, deleteSomeMembersOf } from '../members/delete-all.ts'
import { deleteSomeRunsOf } from '../runs/delete-all.ts'
import { deleteSomeSchemasOf } from '../schemas/delete-all.ts'
import { deleteSomeDeliveriesOf } from '../webhooks/delete-all.ts'

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

export const findNames = (db: Db, id: string): ProjectNames | null =>
  prepared<ProjectNames>(db, `${NAMES} WHERE id = ?`).get(id)

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

/**
 * Deletes the project and whatever is found without it; only `leavingReferences`. What it held is found by nobody, and
 * `deleteSomeOf` deletes it.
 */
export function deleteProjectRow(db: Db, id: string, at: number): void {
  db.orm.insert(removedProjects).values({ id, removedAt: at }).run()
  db.orm.delete(projects).where(eq(projects.id, id)).run()
  deleteOwnerOf(db, id)
  deleteKeysOf(db, id)
  deleteDomainsOf(db, id)
}

/** Deleted projects that still hold something. */
export const listRemovedProjects = (db: Db): string[] =>
  prepared<{ id: string }>(db, 'SELECT id FROM removed_projects')
    .all()
    .map(({ id }) => id)

/** In this order: an alias refers to its deployment. */
const MUCH = [
  deleteSomeRunsOf,
  deleteSomeSchemasOf,
  deleteSomeAliasesOf,
  deleteSomeDeploymentsOf,
  deleteSomeFilesOf,
  deleteSomeInvitationsOf,
  deleteSomeMembersOf,
  deleteSomeDeliveriesOf,
  deleteSomeUndoStatesOf,
]

/** Deletes about `limit` rows of a deleted project; returns false when nothing is left. */
export function deleteSomeOf(db: Db, id: string, limit: number): boolean {
  if (MUCH.some((deleteSome) => deleteSome(db, id, limit))) return true
  deleteWhatRefersTo(db, id)
  db.orm.delete(removedProjects).where(eq(removedProjects.id, id)).run()
  return false
}

/** Everything else is never much, and goes with a row that it refers to. The name is one that no project can have. */
function deleteWhatRefersTo(db: Db, id: string): void {
  const columns =
    'id, owner, name, display_name, is_public, allow_public_signup, required_role, created_at, updated_at'
  prepared(db, `INSERT INTO projects (${columns}) VALUES (?1, '/', ?1, '', 0, 0, 'owner', 0, 0)`).run(id)
  db.orm.delete(projects).where(eq(projects.id, id)).run()
}
