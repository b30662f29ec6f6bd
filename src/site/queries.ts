import type { PrivateSiteResponse } from '../config/config.ts'
import type { Db } from '../db/open.ts'
import { prepared } from '../db/statements.ts'
import type { ContentCoding } from '../domain/content-encoding.ts'
import type { HtmlHandling } from '../domain/html-handling.ts'
import type { Indexing } from '../domain/indexing.ts'
import type { ProjectRole } from '../domain/roles.ts'
import type { KnownBlob } from '../modules/deployments/traits.ts'
import type { StoredBlob } from '../platform/blob-store.ts'

/** What a host or path form shows, as stored. `alias*` are null for a deployment by its SHA. */
export type SiteRow = {
  projectId: string
  owner: string
  name: string
  isPublic: number
  requiredRole: ProjectRole
  isSpa: number | null
  privateSiteResponse: PrivateSiteResponse | null
  htmlHandling: HtmlHandling | null
  indexing: Indexing
  aliasId: string | null
  aliasName: string | null
  aliasIsPublic: number | null
  aliasRequiredRole: ProjectRole | null
  aliasIsSpa: number | null
  basePath: string
  /** The base path on the host; a path form with a SHA serves the whole deployment. */
  hostBasePath: string
  deploymentId: string
  commitSha: string
  version: number
  /** Raised when its files changed. */
  revision: number
  updatedAt: number
  /** When the alias was last moved or set; 0 for a deployment by its SHA. */
  aliasUpdatedAt: number
  label: string | null
  /** When the preview ends; null for what has no end. */
  expiresAt: number | null
  /** A locked preview does not end by time. */
  isLocked: number | null
  hasRouting: number
}

const SITE_COLUMNS = `
  p.id AS projectId, p.owner, p.name, p.is_public AS isPublic, p.required_role AS requiredRole, p.is_spa AS isSpa,
  p.private_site_response AS privateSiteResponse, coalesce(a.html_handling, p.html_handling) AS htmlHandling, p.indexing,
  a.id AS aliasId, a.name AS aliasName, a.is_public AS aliasIsPublic,
  a.required_role AS aliasRequiredRole, a.is_spa AS aliasIsSpa, d.id AS deploymentId,
  coalesce(a.base_path, d.base_path) AS hostBasePath,
  d.commit_sha AS commitSha, d.version, d.revision, d.updated_at AS updatedAt,
  coalesce(a.updated_at, 0) AS aliasUpdatedAt, a.expires_at AS expiresAt, a.is_locked AS isLocked,
  EXISTS (SELECT 1 FROM deployment_routing r WHERE r.deployment_id = d.id) AS hasRouting`

/** A preview whose end has passed is gone, even while its row is still there. contract 16 §2. */
const IS_THERE = '(a.expires_at IS NULL OR a.is_locked = 1 OR a.expires_at > ?)'

/** A single indexed read, independent of the number of sites. */
export function findSiteByLabel(db: Db, label: string, now: number): SiteRow | null {
  return prepared<SiteRow>(
    db,
    `SELECT ${SITE_COLUMNS}, coalesce(a.base_path, d.base_path) AS basePath, h.label FROM host_labels h
       LEFT JOIN aliases a ON a.id = h.alias_id
       JOIN deployments d ON d.id = coalesce(a.deployment_id, h.deployment_id)
       JOIN projects p ON p.id = d.project_id
       WHERE h.label = ? AND ${IS_THERE}`,
  ).get(label, now)
}

export function findSiteByAlias(
  db: Db,
  { owner, repo, alias }: { owner: string; repo: string; alias: string },
  now: number,
): SiteRow | null {
  return prepared<SiteRow>(
    db,
    `SELECT ${SITE_COLUMNS}, a.base_path AS basePath, h.label FROM projects p
       JOIN aliases a ON a.project_id = p.id
       JOIN deployments d ON d.id = a.deployment_id
       LEFT JOIN host_labels h ON h.alias_id = a.id
       WHERE p.owner = ? AND p.name = ? AND a.name = ? AND ${IS_THERE}`,
  ).get(owner, repo, alias, now)
}

/** The same by project id, for mapped hosts. */
export function findSiteOfProject(db: Db, projectId: string, alias: string, now: number): SiteRow | null {
  return prepared<SiteRow>(
    db,
    `SELECT ${SITE_COLUMNS}, a.base_path AS basePath, NULL AS label FROM projects p
       JOIN aliases a ON a.project_id = p.id
       JOIN deployments d ON d.id = a.deployment_id
       WHERE p.id = ? AND a.name = ? AND ${IS_THERE}`,
  ).get(projectId, alias, now)
}

/**
 * The newest versions of commits whose SHA starts this way; two mean that the short form is ambiguous. `from` ≤ sha < `to`.
 */
export function findSitesBySha(db: Db, owner: string, repo: string, from: string, to: string): SiteRow[] {
  return prepared<SiteRow>(
    db,
    `SELECT ${SITE_COLUMNS}, '' AS basePath, h.label FROM projects p
       JOIN deployments d ON d.project_id = p.id
       LEFT JOIN aliases a ON a.id IS NULL AND 0
       JOIN host_labels h ON h.deployment_id = d.id AND h.is_newest = 1
       WHERE p.owner = ? AND p.name = ? AND d.commit_sha >= ? AND d.commit_sha < ? LIMIT 2`,
  ).all(owner, repo, from, to)
}

type FileRow = KnownBlob & { path: string }

/** Every file of a deployment below `prefix` (`''`, or a folder ending in `/`), with the location of its bytes. */
export function listFiles(db: Db, deploymentId: string, prefix: string): FileRow[] {
  return prepared<FileRow>(
    db,
    `SELECT f.path, b.sha256, b.size_bytes AS sizeBytes, b.pack, b.offset, b.object, b.traits, b.is_brotli AS isBrotli
       FROM assets f JOIN blobs b ON b.id = f.blob_id
       WHERE f.deployment_id = ? AND f.path >= ? AND f.path < ?`,
  ).all(deploymentId, prefix, `${prefix}\u{10ffff}`)
}

type VariantRow = StoredBlob & { of: string; encoding: ContentCoding }

/** The forms of the deployment's contents that its project may send. */
export function listVariants(db: Db, deploymentId: string): VariantRow[] {
  return prepared<VariantRow>(
    db,
    `SELECT v.sha256 AS "of", v.encoding, b.sha256, b.size_bytes AS sizeBytes, b.pack, b.offset, b.object
       FROM (SELECT DISTINCT blob_id FROM assets WHERE deployment_id = ?1) f
       JOIN project_variants p ON p.blob_id = f.blob_id
         AND p.project_id = (SELECT project_id FROM deployments WHERE id = ?1)
       JOIN blobs o ON o.id = f.blob_id
       JOIN blob_variants v ON v.sha256 = o.sha256
       JOIN blobs b ON b.sha256 = v.variant_sha256`,
  ).all(deploymentId)
}

/**
 * Deployments that the alias has shown since `since`, newest first, excluding the current one, of those that have one
 * of the files: `paths` are relative to the base path followed by `pathPrefix`.
 */
export function listEarlierDeployments(
  db: Db,
  { aliasId, since, pathPrefix }: { aliasId: string; since: number; pathPrefix: string },
  paths: readonly string[],
): EarlierDeployment[] {
  return prepared<EarlierDeployment>(
    db,
    `SELECT d.id AS deploymentId, d.revision, d.updated_at AS updatedAt, d.commit_sha AS commitSha, h.base_path AS basePath
       FROM (SELECT deployment_id, base_path, moved_at,
                    lead(moved_at, 1, 9e15) OVER (ORDER BY moved_at, id) AS shown_until
             FROM alias_history
             -- From the last move before that time on: a busy alias has many thousands, and a visitor asks.
             WHERE alias_id = ?1 AND moved_at >= coalesce(
               (SELECT max(moved_at) FROM alias_history WHERE alias_id = ?1 AND moved_at < ?2), 0)) h
       JOIN deployments d ON d.id = h.deployment_id
       WHERE h.shown_until >= ?2
         AND d.id <> (SELECT deployment_id FROM aliases WHERE id = ?1)
         AND EXISTS (SELECT 1 FROM json_each(?3) p
                     CROSS JOIN assets f ON f.deployment_id = h.deployment_id
                       AND f.path = substr(h.base_path || ?4 || '/' || p.value, 2))
       GROUP BY d.id ORDER BY max(h.moved_at) DESC`,
  ).all(aliasId, since, JSON.stringify(paths), pathPrefix)
}

type EarlierDeployment = {
  deploymentId: string
  revision: number
  updatedAt: number
  commitSha: string
  basePath: string
}
