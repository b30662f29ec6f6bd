import { and, asc, desc, eq, type SQL, sql } from 'drizzle-orm'
import type { Db, DbOrTx } from '../../db/open.ts'
import { runInPieces } from '../../db/pieces.ts'
import { aliases, aliasHistory, deployments, hostLabels, projects } from '../../db/schema.ts'
import { inList, inPage } from '../../db/select.ts'
import { prepared } from '../../db/statements.ts'
import type { Move } from '../../domain/alias-line.ts'
import type { Page } from '../../domain/pagination.ts'

export type AliasRow = typeof aliases.$inferSelect

/** An alias with the fields of its project, deployment and host that its record shows. */
export type AliasRecord = AliasRow & {
  owner: string
  repo: string
  commitSha: string
  version: number
  number: number
  title: string | null
  label: string | null
}

export type AliasFilter = {
  /** Null: all projects. */
  projectIds: string[] | null
  projectId?: string | undefined
  owner?: string | undefined
  repo?: string | undefined
  name?: string | undefined
}

type AliasSort = 'createdAt' | 'updatedAt' | 'name'

const SORT = { createdAt: aliases.createdAt, updatedAt: aliases.updatedAt, name: aliases.name }

const record = {
  alias: aliases,
  owner: projects.owner,
  repo: projects.name,
  commitSha: deployments.commitSha,
  version: deployments.version,
  number: deployments.number,
  title: deployments.title,
  label: hostLabels.label,
}

const joined = (db: DbOrTx) =>
  db
    .select(record)
    .from(aliases)
    .innerJoin(projects, eq(projects.id, aliases.projectId))
    .innerJoin(deployments, eq(deployments.id, aliases.deploymentId))
    .leftJoin(hostLabels, eq(hostLabels.aliasId, aliases.id))

type Joined = { alias: AliasRow } & Omit<AliasRecord, keyof AliasRow>
const flat = ({ alias, ...rest }: Joined): AliasRecord => ({ ...alias, ...rest })

export function findAlias(db: DbOrTx, id: string): AliasRow | undefined {
  return db.select().from(aliases).where(eq(aliases.id, id)).get()
}

export function findAliasRecord(db: DbOrTx, id: string): AliasRecord | undefined {
  const found = joined(db).where(eq(aliases.id, id)).get()
  return found === undefined ? undefined : flat(found)
}

/** Compares names case-insensitively, by the column's collation. */
export function findAliasOfProject(db: DbOrTx, projectId: string, name: string): AliasRow | undefined {
  return db
    .select()
    .from(aliases)
    .where(and(eq(aliases.projectId, projectId), eq(aliases.name, name)))
    .get()
}

type NamedAlias = { id: string; projectId: string; isPublic: boolean | null }

/** The alias of this name of each project that has one, and whether it is public; null: as the project. */
export const listAliasesNamed = (db: Db, projectIds: readonly string[], name: string): NamedAlias[] =>
  prepared<Omit<NamedAlias, 'isPublic'> & { isPublic: number | null }>(
    db,
    `SELECT id, project_id AS projectId, is_public AS isPublic FROM aliases
     WHERE project_id IN (SELECT value FROM json_each(?)) AND name = ?`,
  )
    .all(JSON.stringify(projectIds), name)
    .map(({ isPublic, ...alias }) => ({ ...alias, isPublic: isPublic === null ? null : isPublic === 1 }))

export function listAliasRecords(db: DbOrTx, filter: AliasFilter, page: Page<AliasSort>): AliasRecord[] {
  const matching = joined(db).where(conditionOf(filter)).$dynamic()
  return inPage(matching, page, SORT[page.sort], aliases.id).all().map(flat)
}

export function countAliases(db: DbOrTx, filter: AliasFilter): number {
  return (
    db
      .select({ count: sql<number>`count(*)` })
      .from(aliases)
      .innerJoin(projects, eq(projects.id, aliases.projectId))
      .where(conditionOf(filter))
      .get()?.count ?? 0
  )
}

function conditionOf(filter: AliasFilter): SQL | undefined {
  const { projectIds, projectId, owner, repo, name } = filter
  return and(
    projectIds === null ? undefined : inList(aliases.projectId, projectIds),
    projectId === undefined ? undefined : eq(aliases.projectId, projectId),
    owner === undefined ? undefined : eq(projects.owner, owner),
    repo === undefined ? undefined : eq(projects.name, repo),
    name === undefined ? undefined : eq(aliases.name, name),
  )
}

export function insertAlias(db: DbOrTx, alias: AliasRow): void {
  db.insert(aliases).values(alias).run()
}

type AliasPatch = Partial<Omit<AliasRow, 'id' | 'projectId' | 'createdAt'>>

export function updateAlias(db: DbOrTx, id: string, patch: AliasPatch): void {
  db.update(aliases).set(patch).where(eq(aliases.id, id)).run()
}

/** Also deletes its history. */
export function deleteAliasRow(db: Db, id: string): void {
  runInPieces(
    db,
    'DELETE FROM alias_history WHERE id IN (SELECT id FROM alias_history WHERE alias_id = ? LIMIT ?)',
    id,
  )
  prepared(db, 'DELETE FROM aliases WHERE id = ?').run(id)
}

export type HistoryRow = typeof aliasHistory.$inferSelect

/** Why an alias points where it does: `publish` also when an upload made it. */
export type MoveReason = HistoryRow['reason']

export function insertHistory(db: DbOrTx, row: HistoryRow): void {
  db.insert(aliasHistory).values(row).run()
}

/** `exists`: the deployment was not deleted. */
type Shown = HistoryRow & { exists: boolean; title: string | null }

/** Newest first. */
export function listHistory(db: DbOrTx, aliasId: string, limit: number): Shown[] {
  return db
    .select({ row: aliasHistory, isThere: deployments.id, title: deployments.title })
    .from(aliasHistory)
    .leftJoin(deployments, eq(deployments.id, aliasHistory.deploymentId))
    .where(eq(aliasHistory.aliasId, aliasId))
    .orderBy(desc(aliasHistory.movedAt), desc(aliasHistory.id))
    .limit(limit)
    .all()
    .map(({ row, isThere, title }) => ({ ...row, exists: isThere !== null, title }))
}

/** A move by what buttons need to name it. */
export type NamedMove = Move & Pick<HistoryRow, 'commitSha' | 'number'>

/** The same moves, for lists of many aliases. */
export const listNamedMoves = (db: Db, aliasId: string, limit: number): NamedMove[] =>
  prepared<Omit<NamedMove, 'exists'> & { exists: number }>(
    db,
    `SELECT h.deployment_id AS deploymentId, h.commit_sha AS commitSha, h.number, h.reason,
            EXISTS (SELECT 1 FROM deployments WHERE id = h.deployment_id) AS "exists"
     FROM alias_history h WHERE h.alias_id = ? ORDER BY h.moved_at DESC, h.id DESC LIMIT ?`,
  )
    .all(aliasId, limit)
    .map((move) => ({ ...move, exists: move.exists === 1 }))

type Back = { id: string; commitSha: string; version: number; number: number; basePath: string }

/** Where the alias pointed last that is another deployment than `current` and exists; `to` asks for that one alone. */
export const findWayBack = (db: Db, aliasId: string, current: string, to: string | null): Back | undefined =>
  prepared<Back>(
    db,
    `SELECT d.id, d.commit_sha AS commitSha, d.version, d.number, h.base_path AS basePath
     FROM alias_history h JOIN deployments d ON d.id = h.deployment_id
     WHERE h.alias_id = ?1 AND h.deployment_id <> ?2 AND (?3 IS NULL OR h.deployment_id = ?3)
     ORDER BY h.moved_at DESC, h.id DESC LIMIT 1`,
  ).get(aliasId, current, to) ?? undefined

/** The folder of this deployment that the alias served when it last pointed at it. */
export const findFormerBasePath = (db: Db, aliasId: string, deploymentId: string): string | undefined =>
  prepared<{ basePath: string }>(
    db,
    `SELECT base_path AS basePath FROM alias_history WHERE alias_id = ? AND deployment_id = ?
     ORDER BY moved_at DESC, id DESC LIMIT 1`,
  ).get(aliasId, deploymentId)?.basePath

/** An alias; one version of a commit; or a commit, whose host shows its newest version. */
export type LabelTarget = { aliasId: string } | { deploymentId: string; isNewest: boolean }

export function findLabelOf(db: DbOrTx, target: LabelTarget): string | undefined {
  const condition =
    'aliasId' in target
      ? eq(hostLabels.aliasId, target.aliasId)
      : and(eq(hostLabels.deploymentId, target.deploymentId), eq(hostLabels.isNewest, target.isNewest))
  return db.select({ label: hostLabels.label }).from(hostLabels).where(condition).get()?.label
}

/** A label of a project that is being deleted is free already. */
export const hasLabel = (db: DbOrTx, label: string): boolean => findHolder(db, label) !== undefined

function findHolder(db: DbOrTx, label: string): { aliasId: string | null } | undefined {
  return db
    .select({ aliasId: hostLabels.aliasId })
    .from(hostLabels)
    .leftJoin(aliases, eq(aliases.id, hostLabels.aliasId))
    .leftJoin(deployments, eq(deployments.id, hostLabels.deploymentId))
    .innerJoin(projects, eq(projects.id, sql`coalesce(${aliases.projectId}, ${deployments.projectId})`))
    .where(eq(hostLabels.label, label))
    .get()
}

/** The label must be free. */
export function insertLabel(db: DbOrTx, label: string, target: LabelTarget): void {
  db.delete(hostLabels).where(eq(hostLabels.label, label)).run()
  db.insert(hostLabels)
    .values({ label, aliasId: null, deploymentId: null, ...target })
    .run()
}

/** `label` is where the alias is served. The alias `production` first, then the oldest. */
type AliasOfDeployment = { deploymentId: string; name: string; label: string | null }

export function listAliasesOf(db: DbOrTx, deploymentIds: readonly string[]): AliasOfDeployment[] {
  return db
    .select({ deploymentId: aliases.deploymentId, name: aliases.name, label: hostLabels.label })
    .from(aliases)
    .leftJoin(hostLabels, eq(hostLabels.aliasId, aliases.id))
    .where(inList(aliases.deploymentId, deploymentIds))
    .orderBy(sql`${aliases.name} <> 'production'`, asc(aliases.createdAt), asc(aliases.id))
    .all()
}

/** The host of a commit goes on to its next version. */
export function moveNewestLabel(db: Db, fromDeploymentId: string, toDeploymentId: string): void {
  prepared(db, 'UPDATE host_labels SET deployment_id = ?2 WHERE deployment_id = ?1 AND is_newest = 1').run(
    fromDeploymentId,
    toDeploymentId,
  )
}

/** Where a version is served: on its own host, and on that of its commit while it is the newest. */
type VersionLabels = {
  deploymentId: string
  versionLabel: string | null
  shaLabel: string | null
  isLatest: boolean
}

export const listLabelsOf = (db: Db, deploymentIds: readonly string[]): VersionLabels[] =>
  prepared<Omit<VersionLabels, 'isLatest'> & { isLatest: number }>(
    db,
    `SELECT d.id AS deploymentId, v.label AS versionLabel, s.label AS shaLabel, n.id = d.id AS isLatest
     FROM json_each(?) asked JOIN deployments d ON d.id = asked.value
     JOIN deployments n ON n.id = (SELECT id FROM deployments WHERE project_id = d.project_id
                                     AND commit_sha = d.commit_sha ORDER BY version DESC LIMIT 1)
     LEFT JOIN host_labels v ON v.deployment_id = d.id AND v.is_newest = 0
     LEFT JOIN host_labels s ON s.deployment_id = n.id AND s.is_newest = 1`,
  )
    .all(JSON.stringify(deploymentIds))
    .map((row) => ({ ...row, isLatest: row.isLatest === 1 }))

/** What the alias `production`, or the oldest alias, shows, and its host label; undefined if there is none. */
export const findPrimary = (db: Db, projectId: string): Primary | undefined =>
  prepared<Primary>(
    db,
    `SELECT l.label, d.icon, a.deployment_id AS deploymentId, a.base_path AS basePath
     FROM aliases a JOIN host_labels l ON l.alias_id = a.id JOIN deployments d ON d.id = a.deployment_id
     WHERE a.project_id = ? ORDER BY a.name <> 'production', a.created_at LIMIT 1`,
  ).get(projectId) ?? undefined

type Primary = { label: string; icon: string | null; deploymentId: string; basePath: string }

/** Labels of the aliases that everybody may see, the oldest first. */
export function listPublicAliasLabels(db: DbOrTx): string[] {
  return db
    .select({ label: hostLabels.label })
    .from(aliases)
    .innerJoin(hostLabels, eq(hostLabels.aliasId, aliases.id))
    .innerJoin(projects, eq(projects.id, aliases.projectId))
    .where(sql`coalesce(${aliases.isPublic}, ${projects.isPublic}) = 1`)
    .orderBy(asc(aliases.createdAt), asc(aliases.id))
    .all()
    .map(({ label }) => label)
}

/** Whether the label belongs to an alias; labels of deployments do not count. */
export function isAliasLabel(db: DbOrTx, label: string): boolean {
  const holder = findHolder(db, label)
  return holder !== undefined && holder.aliasId !== null
}
