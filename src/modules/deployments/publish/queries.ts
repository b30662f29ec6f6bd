import { and, desc, eq, sql } from 'drizzle-orm'
import type { Db, DbOrTx } from '../../../db/open.ts'
import { deployments } from '../../../db/schema.ts'
import { prepared } from '../../../db/statements.ts'
import type { DeploymentRow } from '../queries.ts'

/**
 * The writes of an upload. Statements that run once per file are prepared and run on the raw handle, inside the
 * service's open transaction: through drizzle, thousands of files would take several times as long.
 */

/** For contents that were sent but are not used: the collector frees them. */
export function insertCandidates(db: Db, sha256s: Iterable<string>): void {
  const insert = db.sqlite.query<unknown, [string]>('INSERT OR REPLACE INTO blob_candidates VALUES (?, NULL)')
  for (const sha256 of sha256s) insert.run(sha256)
}

export function findNewestVersion(
  db: DbOrTx,
  projectId: string,
  commitSha: string,
): DeploymentRow | undefined {
  return db
    .select()
    .from(deployments)
    .where(and(eq(deployments.projectId, projectId), eq(deployments.commitSha, commitSha)))
    .orderBy(desc(deployments.version))
    .limit(1)
    .get()
}

/** Of the versions of a commit that were deleted; 0 if none was. */
export const findGivenVersion = (db: Db, projectId: string, commitSha: string): number =>
  prepared<{ version: number }>(
    db,
    'SELECT version FROM given_versions WHERE project_id = ? AND commit_sha = ?',
  ).get(projectId, commitSha)?.version ?? 0

/** Returns the number that it got. */
export function insertDeployment(db: Db, tx: DbOrTx, deployment: DeploymentRow): number {
  tx.insert(deployments).values(deployment).run()
  return findNumber(db, deployment.id)
}

const findNumber = (db: Db, id: string): number =>
  prepared<{ number: number }>(db, 'SELECT number FROM deployments WHERE id = ?').get(id)?.number ?? 0

export type DeploymentPatch = Partial<
  Pick<
    DeploymentRow,
    | 'branch'
    | 'description'
    | 'title'
    | 'workflowName'
    | 'workflowRunId'
    | 'committedAt'
    | 'tags'
    | 'baseSha'
    | 'basePath'
    | 'preview'
  >
>

export function updateDeployment(db: DbOrTx, id: string, patch: DeploymentPatch): void {
  if (Object.keys(patch).length > 0) db.update(deployments).set(patch).where(eq(deployments.id, id)).run()
}

export type NewAsset = { id: string; path: string; sha256: string; sizeBytes: number }

const STORED = `SELECT a.id, a.path, b.sha256, a.size_bytes AS sizeBytes
                FROM assets a JOIN blobs b ON b.id = a.blob_id WHERE a.deployment_id = ?`

export const listStoredAssets = (db: Db, deploymentId: string): NewAsset[] =>
  prepared<NewAsset>(db, STORED).all(deploymentId)

/** Those at one of the paths. Takes as long as there are paths, however many files the deployment has. */
export function listAssetsAt(db: Db, deploymentId: string, paths: readonly string[]): NewAsset[] {
  const find = prepared<NewAsset>(db, `${STORED} AND a.path = ?`)
  return paths.flatMap((path) => find.get(deploymentId, path) ?? [])
}

/** A file of the deployment below one of the paths. */
export function findFileBelow(
  db: Db,
  deploymentId: string,
  paths: readonly string[],
): { path: string; below: string } | undefined {
  const find = prepared<{ path: string }>(
    db,
    'SELECT path FROM assets WHERE deployment_id = ? AND path > ? AND path < ? LIMIT 1',
  )
  for (const path of paths) {
    // 0 is the character behind the slash.
    const below = find.get(deploymentId, `${path}/`, `${path}0`)
    if (below !== null) return { path, below: below.path }
  }
  return undefined
}

/** Two of the folders below `above`, which is empty or ends in a slash; fewer if there are no more. */
export const listSomeFolders = (db: Db, deploymentId: string, above: string): string[] =>
  prepared<{ name: string }>(
    db,
    `SELECT DISTINCT substr(rest, 1, instr(rest, '/') - 1) AS name
     FROM (SELECT substr(path, length(?2) + 1) AS rest FROM assets
           WHERE deployment_id = ?1 AND path >= ?2 AND path < ?3)
     WHERE instr(rest, '/') > 0 LIMIT 2`,
  )
    .all(deploymentId, above, `${above}\u{10ffff}`)
    .map(({ name }) => name)

/** The paths of all start pages in folders below `above`, which is empty or ends in a slash. */
export const listStartPages = (db: Db, deploymentId: string, above: string): string[] =>
  prepared<{ path: string }>(
    db,
    `SELECT path FROM assets WHERE deployment_id = ? AND path >= ? AND path < ? AND path LIKE '%/index.html'`,
  )
    .all(deploymentId, above, `${above}\u{10ffff}`)
    .map(({ path }) => path)

/** Files were added or replaced in place, so anyone who cached its manifest must read it again. */
export function addToCounts(
  db: DbOrTx,
  id: string,
  added: { files: number; bytes: number },
  updatedAt: number,
): void {
  db.update(deployments)
    .set({
      fileCount: sql`${deployments.fileCount} + ${added.files}`,
      totalSize: sql`${deployments.totalSize} + ${added.bytes}`,
      revision: sql`${deployments.revision} + 1`,
      updatedAt,
    })
    .where(eq(deployments.id, id))
    .run()
}

export function insertAssets(db: Db, deploymentId: string, assets: readonly NewAsset[]): void {
  const insert = db.sqlite.query<unknown, [string, string, string, string, number]>(
    `INSERT INTO assets (id, deployment_id, path, blob_id, size_bytes)
     VALUES (?, ?, ?, (SELECT id FROM blobs WHERE sha256 = ?), ?)`,
  )
  for (const { id, path, sha256, sizeBytes } of assets) insert.run(id, deploymentId, path, sha256, sizeBytes)
}

/** A path whose content changes keeps its row and id. */
export function replaceContents(db: Db, assets: readonly NewAsset[]): void {
  const update = db.sqlite.query<unknown, [string, number, string]>(
    'UPDATE assets SET blob_id = (SELECT id FROM blobs WHERE sha256 = ?), size_bytes = ? WHERE id = ?',
  )
  for (const { id, sha256, sizeBytes } of assets) update.run(sha256, sizeBytes, id)
}

/** Tells whether an alias was moved since: by its newest move. */
export type AliasMark = { aliasId: string; historyId: string | null }

export const findAliasMark = (db: Db, projectId: string, name: string): AliasMark | null =>
  prepared<AliasMark>(
    db,
    `SELECT a.id AS aliasId,
       (SELECT h.id FROM alias_history h WHERE h.alias_id = a.id ORDER BY h.moved_at DESC, h.id DESC LIMIT 1) AS historyId
     FROM aliases a WHERE a.project_id = ? AND a.name = ?`,
  ).get(projectId, name)
