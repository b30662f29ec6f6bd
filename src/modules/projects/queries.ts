import { and, asc, eq, inArray, sql } from 'drizzle-orm'
import type { DbOrTx } from '../../db/open.ts'
import { aliases, hostLabels, projects } from '../../db/schema.ts'

export type Project = typeof projects.$inferSelect

export function findProject(db: DbOrTx, id: string): Project | undefined {
  return db.select().from(projects).where(eq(projects.id, id)).get()
}

/** Owner and name are compared without regard to case, by the columns' collation. */
export function findProjectByName(db: DbOrTx, owner: string, name: string): Project | undefined {
  return db
    .select()
    .from(projects)
    .where(and(eq(projects.owner, owner), eq(projects.name, name)))
    .get()
}

export function listAllProjects(db: DbOrTx): Project[] {
  return db.select().from(projects).orderBy(asc(projects.owner), asc(projects.name)).all()
}

export function listProjectsById(db: DbOrTx, ids: readonly string[]): Project[] {
  return db
    .select()
    .from(projects)
    .where(inArray(projects.id, [...ids]))
    .orderBy(asc(projects.owner), asc(projects.name))
    .all()
}

/** Every project on which a direct permission or a group gives the user a role. */
export function listProjectsOfUser(db: DbOrTx, userId: string): Project[] {
  return db
    .select()
    .from(projects)
    .where(
      sql`${projects.id} IN (
        SELECT project_id FROM permissions WHERE user_id = ${userId}
        UNION SELECT gp.project_id FROM group_permissions gp JOIN group_members gm ON gm.group_id = gp.group_id
        WHERE gm.user_id = ${userId})`,
    )
    .orderBy(asc(projects.owner), asc(projects.name))
    .all()
}

export function insertProject(db: DbOrTx, project: Project): void {
  db.insert(projects).values(project).run()
}

export type ProjectPatch = Partial<Omit<Project, 'id' | 'owner' | 'name' | 'createdAt'>>

export function updateProject(db: DbOrTx, id: string, patch: ProjectPatch): void {
  db.update(projects).set(patch).where(eq(projects.id, id)).run()
}

export function deleteProjectRow(db: DbOrTx, id: string): void {
  db.delete(projects).where(eq(projects.id, id)).run()
}

/** Host label of the alias `production`, or of the oldest alias; undefined while there is none. */
export function findPrimaryLabel(db: DbOrTx, projectId: string): string | undefined {
  return db
    .select({ label: hostLabels.label })
    .from(aliases)
    .innerJoin(hostLabels, eq(hostLabels.aliasId, aliases.id))
    .where(eq(aliases.projectId, projectId))
    .orderBy(sql`${aliases.name} <> 'production'`, asc(aliases.createdAt))
    .limit(1)
    .get()?.label
}
