import { and, eq, gte, lt, not, type SQL, sql } from 'drizzle-orm'
import type { Db, DbOrTx } from '../../db/open.ts'
import { runInPieces } from '../../db/pieces.ts'
import { aliases, assets, deployments, projects, removedProjects } from '../../db/schema.ts'
import { blobs } from '../../db/schema-contents.ts'
import { countRows, inList, inPage } from '../../db/select.ts'
import { prepared } from '../../db/statements.ts'
import { type Named, parseDeploymentNumber } from '../../domain/deployment-name.ts'
import type { Page } from '../../domain/pagination.ts'

export type DeploymentRow = typeof deployments.$inferSelect

/** A file of a deployment. */
export type AssetRow = { id: string; deploymentId: string; path: string; sha256: string; sizeBytes: number }

/** A deployment with the names of its project. */
export type DeploymentRecord = DeploymentRow & { owner: string; repo: string }

export type DeploymentFilter = {
  /** Null: all projects. */
  projectIds: string[] | null
  projectId?: string | undefined
  owner?: string | undefined
  repo?: string | undefined
  branch?: string | undefined
  /** Lower case; the whole SHA or a prefix. */
  commitSha?: string | undefined
  /** Name of an alias that points at it. */
  alias?: string | undefined
  number?: number | undefined
  /** A part of the title or the branch, the number, or the beginning of the SHA. */
  q?: string | undefined
}

type DeploymentSort = 'createdAt' | 'commitSha' | 'number'
type FileSort = 'path' | 'size'

const DEPLOYMENT_SORT = {
  createdAt: deployments.createdAt,
  commitSha: deployments.commitSha,
  number: deployments.number,
}
const FILE_SORT = { path: assets.path, size: assets.sizeBytes }

const joined = (db: DbOrTx) =>
  db
    .select({ deployment: deployments, owner: projects.owner, repo: projects.name })
    .from(deployments)
    .innerJoin(projects, eq(projects.id, deployments.projectId))

const files = (db: DbOrTx) =>
  db
    .select({
      id: assets.id,
      deploymentId: assets.deploymentId,
      path: assets.path,
      sha256: blobs.sha256,
      sizeBytes: assets.sizeBytes,
    })
    .from(assets)
    .innerJoin(blobs, eq(blobs.id, assets.blobId))

export function findDeployment(db: DbOrTx, id: string): DeploymentRow | undefined {
  return db.select().from(deployments).where(eq(deployments.id, id)).get()
}

export function findDeploymentByNumber(
  db: DbOrTx,
  projectId: string,
  number: number,
): DeploymentRow | undefined {
  return db
    .select()
    .from(deployments)
    .where(and(eq(deployments.projectId, projectId), eq(deployments.number, number)))
    .get()
}

export function findDeploymentRecord(db: DbOrTx, id: string): DeploymentRecord | undefined {
  const found = joined(db).where(eq(deployments.id, id)).get()
  return found === undefined ? undefined : { ...found.deployment, owner: found.owner, repo: found.repo }
}

/** Without a join, so that a page is read from the index in its order, however many rows there are. */
export function listDeploymentRecords(
  db: DbOrTx,
  filter: DeploymentFilter,
  page: Page<DeploymentSort>,
): DeploymentRecord[] {
  const matching = db.select().from(deployments).where(conditionOf(db, filter)).$dynamic()
  const rows = inPage(matching, page, DEPLOYMENT_SORT[page.sort], deployments.id).all()
  const named = db
    .select({ id: projects.id, owner: projects.owner, repo: projects.name })
    .from(projects)
    .where(
      inList(
        projects.id,
        rows.map(({ projectId }) => projectId),
      ),
    )
    .all()
  const names = new Map(named.map(({ id, owner, repo }) => [id, { owner, repo }]))
  return rows.map((row) => ({ ...row, ...(names.get(row.projectId) ?? { owner: '', repo: '' }) }))
}

export const countDeployments = (db: DbOrTx, filter: DeploymentFilter): number =>
  countRows(db, deployments, conditionOf(db, filter))

function conditionOf(db: DbOrTx, filter: DeploymentFilter): SQL | undefined {
  const { projectIds, projectId, branch, commitSha, alias, number, q } = filter
  return and(
    projectIds === null ? ofNoneRemoved(db) : inList(deployments.projectId, projectIds),
    projectId === undefined ? undefined : eq(deployments.projectId, projectId),
    ofNamed(db, filter),
    branch === undefined ? undefined : eq(deployments.branch, branch),
    commitSha === undefined ? undefined : gte(deployments.commitSha, commitSha),
    commitSha === undefined ? undefined : lt(deployments.commitSha, `${commitSha}g`),
    alias === undefined
      ? undefined
      : sql`${deployments.id} IN (SELECT ${aliases.deploymentId} FROM ${aliases} WHERE ${eq(aliases.name, alias)})`,
    number === undefined ? undefined : eq(deployments.number, number),
    q === undefined ? undefined : matching(q),
  )
}

/** Without regard to the case of A to Z. */
function matching(q: string): SQL {
  const part = q.toLowerCase()
  return sql`(instr(lower(${deployments.title}), ${part}) > 0 OR instr(lower(${deployments.branch}), ${part}) > 0
    OR ${deployments.number} = ${parseDeploymentNumber(part.replace(/^#/, '')) ?? null}
    OR (${deployments.commitSha} >= ${part} AND ${deployments.commitSha} < ${`${part}g`}))`
}

/** Mostly nothing is being removed, and no condition is the fastest. */
function ofNoneRemoved(db: DbOrTx): SQL | undefined {
  const removed = db.select({ id: removedProjects.id }).from(removedProjects).all()
  const ids = removed.map(({ id }) => id)
  return ids.length === 0 ? undefined : not(inList(deployments.projectId, ids))
}

/** A single project is filtered by its id, so that the index of its deployments provides the order. */
function ofNamed(db: DbOrTx, { owner, repo }: DeploymentFilter): SQL | undefined {
  const condition = and(
    owner === undefined ? undefined : eq(projects.owner, owner),
    repo === undefined ? undefined : eq(projects.name, repo),
  )
  if (condition === undefined) return undefined
  const found = db.select({ id: projects.id }).from(projects).where(condition).all()
  const [only, ...others] = found.map(({ id }) => id)
  if (only !== undefined && others.length === 0) return eq(deployments.projectId, only)
  return inList(
    deployments.projectId,
    found.map(({ id }) => id),
  )
}

export function forgetIcon(db: Db, deploymentId: string, path: string): void {
  prepared(db, 'UPDATE deployments SET icon = NULL WHERE id = ? AND icon = ?').run(deploymentId, path)
}

export const listNames = (db: Db, ids: readonly string[]): (Named & { id: string })[] =>
  prepared<Named & { id: string }>(
    db,
    'SELECT id, number, title FROM deployments WHERE id IN (SELECT value FROM json_each(?))',
  ).all(JSON.stringify(ids))

/** The part of a deployment that aliases need. */
export type PointedAt = { id: string; commitSha: string; version: number; number: number; basePath: string }

const POINTED_AT = 'SELECT id, commit_sha AS commitSha, number, base_path AS basePath'

export const findDeploymentOfProject = (db: Db, projectId: string, id: string): PointedAt | null =>
  prepared<PointedAt>(db, `${POINTED_AT}, version FROM deployments WHERE project_id = ? AND id = ?`).get(
    projectId,
    id,
  )

/**
 * The newest versions of the commits whose SHA has this prefix, an exact match first. Two results mean that the prefix is
 * ambiguous. The other columns are of the row that has the maximum.
 */
export const findDeploymentsBySha = (db: Db, projectId: string, prefix: string): PointedAt[] =>
  prepared<PointedAt>(
    db,
    `${POINTED_AT}, max(version) AS version FROM deployments
     WHERE project_id = ? AND commit_sha >= ? AND commit_sha < ? GROUP BY commit_sha ORDER BY commit_sha LIMIT 2`,
  ).all(projectId, prefix, `${prefix}g`)

export const findVersionOf = (db: Db, id: string): { commitSha: string; version: number } | null =>
  prepared<{ commitSha: string; version: number }>(
    db,
    'SELECT commit_sha AS commitSha, version FROM deployments WHERE id = ?',
  ).get(id)

/** Whether the deployment has a file in the folder, which is written like a base path: `/dist`. */
export const hasFolder = (db: Db, id: string, folder: string): boolean =>
  prepared(db, 'SELECT 1 FROM assets WHERE deployment_id = ? AND path >= ? AND path < ? LIMIT 1').get(
    id,
    `${folder.slice(1)}/`,
    `${folder.slice(1)}/\u{10ffff}`,
  ) !== null

/** Also deletes its files. */
export function deleteDeploymentRow(db: Db, id: string): void {
  runInPieces(db, SOME_ASSETS, id)
  prepared(db, 'DELETE FROM deployments WHERE id = ?').run(id)
}

const SOME_ASSETS = 'DELETE FROM assets WHERE id IN (SELECT id FROM assets WHERE deployment_id = ? LIMIT ?)'

/** Deletes up to `limit` of its files; returns how many. */
export const deleteSomeAssetsOf = (db: Db, id: string, limit: number): number =>
  prepared(db, SOME_ASSETS).run(id, limit).changes

/** Its files changed, so anyone who cached its manifest must read it again. */
export function recountDeployment(db: DbOrTx, id: string, updatedAt: number): void {
  db.update(deployments)
    .set({
      fileCount: sql`(SELECT count(*) FROM ${assets} WHERE ${assets.deploymentId} = ${id})`,
      totalSize: sql`(SELECT coalesce(sum(${assets.sizeBytes}), 0) FROM ${assets} WHERE ${assets.deploymentId} = ${id})`,
      revision: sql`${deployments.revision} + 1`,
      updatedAt,
    })
    .where(eq(deployments.id, id))
    .run()
}

export function findAsset(db: DbOrTx, id: string): AssetRow | undefined {
  return files(db).where(eq(assets.id, id)).get()
}

export function deleteAssetRow(db: DbOrTx, id: string): void {
  db.delete(assets).where(eq(assets.id, id)).run()
}

/** Files of a deployment whose path begins with `prefix`. */
export function listAssets(
  db: DbOrTx,
  deploymentId: string,
  prefix: string,
  page: Page<FileSort>,
): AssetRow[] {
  const matching = files(db).where(below(deploymentId, prefix)).$dynamic()
  return inPage(matching, page, FILE_SORT[page.sort], assets.path).all()
}

export const countAssets = (db: DbOrTx, deploymentId: string, prefix: string): number =>
  countRows(db, assets, below(deploymentId, prefix))

const below = (deploymentId: string, prefix: string): SQL | undefined =>
  and(
    eq(assets.deploymentId, deploymentId),
    prefix === '' ? undefined : gte(assets.path, prefix),
    prefix === '' ? undefined : lt(assets.path, `${prefix}\u{10ffff}`),
  )

/** When something was last published to each project; projects without deployments are left out. */
export const listLastTimes = (db: Db, projectIds: readonly string[]): { projectId: string; at: number }[] =>
  prepared<{ projectId: string; at: number }>(
    db,
    `SELECT projectId, at FROM (
       SELECT value AS projectId, (SELECT max(updated_at) FROM deployments WHERE project_id = value) AS at
       FROM json_each(?)) WHERE at IS NOT NULL`,
  ).all(JSON.stringify(projectIds))

type Published = { deployments: number; files: number; bytes: number }

/** As published: a content that several deployments share counts in each of them. */
export const sumPublished = (db: Db, projectId: string): Published =>
  prepared<Published>(
    db,
    `SELECT count(*) AS deployments, coalesce(sum(file_count), 0) AS files, coalesce(sum(total_size), 0) AS bytes
     FROM deployments WHERE project_id = ?`,
  ).get(projectId) ?? { deployments: 0, files: 0, bytes: 0 }

export const listIdsOfProject = (db: Db, projectId: string): string[] =>
  prepared<{ id: string }>(db, 'SELECT id FROM deployments WHERE project_id = ?')
    .all(projectId)
    .map(({ id }) => id)

export const listContents = (db: Db, deploymentId: string): { sha256: string; sizeBytes: number }[] =>
  prepared<{ sha256: string; sizeBytes: number }>(
    db,
    'SELECT b.sha256, b.size_bytes AS sizeBytes FROM assets a JOIN blobs b ON b.id = a.blob_id WHERE a.deployment_id = ?',
  ).all(deploymentId)

export type Stored = { contents: number; bytes: number }

/** Counts each content of the workspace once, and the compressed forms. */
export const sumStored = (db: Db): Stored =>
  prepared<Stored>(
    db,
    'SELECT count(*) AS contents, coalesce(sum(size_bytes), 0) AS bytes FROM blobs',
  ).get() ?? { contents: 0, bytes: 0 }

/** Their contents were moved or have new forms, so anyone who cached their manifests must read them again. */
export function bumpRevisions(db: Db, ids: readonly string[]): void {
  prepared(
    db,
    'UPDATE deployments SET revision = revision + 1 WHERE id IN (SELECT value FROM json_each(?))',
  ).run(JSON.stringify(ids))
}
