import type { Db } from '../../../db/open.ts'
import type { StoredBlob } from '../../../platform/blob-store.ts'

/** A damaged item. `detail` is a sentence for the operator that names it. */
export type Problem = {
  kind:
    | 'database'
    | 'foreign_key'
    | 'deployment_counts'
    | 'alias_project'
    | 'host_label'
    | 'version'
    | 'number'
    | 'preview_project'
    | 'asset_size'
    | 'project_file'
    | 'api_key_maker'
    | 'webhook_delivery'
    | 'routing'
    | 'content_missing'
    | 'content_damaged'
  detail: string
}

/**
 * Reports what SQLite finds, and what its constraints cannot express. Throws when a damaged database cannot be read
 * further; earlier findings have been yielded by then.
 */
export function* inspectDatabase(db: Db): Generator<Problem, void, undefined> {
  yield* findCorruption(db)
  yield* findDangling(db)
  for (const { kind, sql } of RULES)
    for (const { detail } of db.sqlite.query<{ detail: string }, []>(sql).all()) yield { kind, detail }
}

function findCorruption(db: Db): Problem[] {
  return db.sqlite
    .query<{ integrity_check: string }, []>('PRAGMA integrity_check')
    .all()
    .filter(({ integrity_check }) => integrity_check !== 'ok')
    .map(({ integrity_check }) => ({ kind: 'database', detail: integrity_check }))
}

function findDangling(db: Db): Problem[] {
  return db.sqlite
    .query<{ table: string; parent: string; count: number }, []>(
      'SELECT "table", parent, count(*) AS count FROM pragma_foreign_key_check() GROUP BY "table", parent',
    )
    .all()
    .map((one) =>
      one.parent === 'projects' ? { ...one, count: one.count - countRemoved(db, one.table) } : one,
    )
    .filter(({ count }) => count > 0)
    .map(({ table, parent, count }) => ({
      kind: 'foreign_key',
      detail: `${count} rows of ${table} refer to rows of ${parent} that do not exist`,
    }))
}

/** Rows of deleted projects, which the server deletes in steps. */
function countRemoved(db: Db, table: string): number {
  const sql = `SELECT count(*) AS count FROM "${table}" WHERE project_id IN (SELECT id FROM removed_projects)`
  return db.sqlite.query<{ count: number }, []>(sql).get()?.count ?? 0
}

/** Each query yields one row per problem. */
const RULES: readonly { kind: Problem['kind']; sql: string }[] = [
  {
    kind: 'deployment_counts',
    sql: `SELECT 'deployment ' || d.id || ' (' || d.commit_sha || ') says ' || d.file_count || ' files and ' || d.total_size
                 || ' bytes, but has ' || f.files || ' and ' || f.bytes AS detail
          FROM deployments d JOIN projects p ON p.id = d.project_id
          JOIN (SELECT d.id, count(a.id) AS files, coalesce(sum(a.size_bytes), 0) AS bytes
                FROM deployments d LEFT JOIN assets a ON a.deployment_id = d.id GROUP BY d.id) f ON f.id = d.id
          WHERE d.file_count <> f.files OR d.total_size <> f.bytes`,
  },
  {
    kind: 'alias_project',
    sql: `SELECT 'alias ' || a.id || ' (' || a.name || ') points at a deployment of another project' AS detail
          FROM aliases a JOIN deployments d ON d.id = a.deployment_id WHERE d.project_id <> a.project_id`,
  },
  {
    kind: 'preview_project',
    sql: `SELECT 'deployment ' || d.id || ' was published as the preview ' || a.id || ' (' || a.name || ') of another project' AS detail
          FROM preview_deployments p JOIN aliases a ON a.id = p.alias_id JOIN deployments d ON d.id = p.deployment_id
          WHERE d.project_id <> a.project_id`,
  },
  {
    kind: 'host_label',
    sql: `SELECT 'alias ' || a.id || ' (' || a.name || ') has no host' AS detail
          FROM aliases a JOIN projects p ON p.id = a.project_id WHERE NOT EXISTS (SELECT 1 FROM host_labels WHERE alias_id = a.id)
          UNION ALL SELECT 'version ' || d.version || ' of ' || d.commit_sha || ' (deployment ' || d.id || ') has no host of its own'
          FROM deployments d JOIN projects p ON p.id = d.project_id
          WHERE NOT EXISTS (SELECT 1 FROM host_labels WHERE deployment_id = d.id AND is_newest = 0)
          UNION ALL SELECT 'the host of the commit ' || d.commit_sha || ' does not show its newest version, ' || max(d.version)
                           || ' (deployment ' || d.id || ')'
          FROM deployments d JOIN projects p ON p.id = d.project_id GROUP BY d.project_id, d.commit_sha
          HAVING NOT EXISTS (SELECT 1 FROM host_labels WHERE deployment_id = d.id AND is_newest = 1)
          UNION ALL SELECT 'the host ' || h.label || ' leads to the deployment ' || h.deployment_id || ', which does not exist'
          FROM host_labels h WHERE h.deployment_id IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM deployments WHERE id = h.deployment_id)`,
  },
  {
    kind: 'version',
    sql: `SELECT 'the commit ' || commit_sha || ' has ' || count(*) || ' versions ' || version || ' in the project ' || project_id AS detail
          FROM deployments GROUP BY project_id, commit_sha, version HAVING count(*) > 1
          UNION ALL SELECT 'alias ' || a.id || ' (' || a.name || ') points at the deployment ' || a.deployment_id
                           || ', which does not exist'
          FROM aliases a WHERE NOT EXISTS (SELECT 1 FROM deployments WHERE id = a.deployment_id)
          UNION ALL SELECT 'the history of alias ' || a.id || ' (' || a.name || ') says that the deployment ' || d.id
                           || ' is version ' || h.version || ' of ' || h.commit_sha || ', but it is version ' || d.version || ' of ' || d.commit_sha
          FROM alias_history h JOIN aliases a ON a.id = h.alias_id JOIN deployments d ON d.id = h.deployment_id
          WHERE d.project_id <> a.project_id OR d.commit_sha <> h.commit_sha OR d.version <> h.version
          UNION ALL SELECT 'version ' || d.version || ' of ' || d.commit_sha || ' (deployment ' || d.id
                           || ') can have been given before: the commit gave ' || g.version
          FROM deployments d JOIN given_versions g ON g.project_id = d.project_id AND g.commit_sha = d.commit_sha AND g.version = d.version`,
  },
  {
    kind: 'number',
    sql: `SELECT 'the project ' || project_id || ' has ' || count(*) || ' deployments #' || number AS detail
          FROM deployments GROUP BY project_id, number HAVING count(*) > 1
          UNION ALL SELECT 'deployment ' || d.id || ' (' || d.commit_sha || ') is #' || d.number || ', but its project has given '
                           || coalesce('the numbers up to ' || c.number, 'no number')
          FROM deployments d JOIN projects p ON p.id = d.project_id LEFT JOIN deployment_counters c ON c.project_id = d.project_id
          WHERE d.number < 1 OR c.number IS NULL OR d.number > c.number`,
  },
  {
    kind: 'asset_size',
    sql: `SELECT 'asset ' || a.id || ' (' || a.path || ') says ' || a.size_bytes || ' bytes, its content has '
                 || b.size_bytes AS detail
          FROM assets a JOIN blobs b ON b.id = a.blob_id WHERE a.size_bytes <> b.size_bytes`,
  },
  {
    kind: 'project_file',
    sql: `SELECT 'file ' || p.owner || '/' || p.name || '/uploads/' || f.path || ' says ' || f.size_bytes
                 || ' bytes, its content has ' || b.size_bytes AS detail
          FROM project_files f JOIN blobs b ON b.id = f.blob_id JOIN projects p ON p.id = f.project_id
          WHERE f.size_bytes <> b.size_bytes
          UNION ALL SELECT 'the project ' || p.owner || '/' || p.name || ' says that its files are '
                 || coalesce(t.files, 0) || ' with ' || coalesce(t.bytes, 0) || ' bytes, but has ' || f.files || ' with ' || f.bytes
          FROM projects p LEFT JOIN project_file_totals t ON t.project_id = p.id
          JOIN (SELECT p.id, count(f.id) AS files, coalesce(sum(f.size_bytes), 0) AS bytes
                FROM projects p LEFT JOIN project_files f ON f.project_id = p.id GROUP BY p.id) f ON f.id = p.id
          WHERE coalesce(t.files, 0) <> f.files OR coalesce(t.bytes, 0) <> f.bytes`,
  },
  {
    kind: 'api_key_maker',
    sql: `SELECT 'API key ' || k.prefix || '… (' || k.name || ') is not suspended, though the person who made it is '
                 || CASE WHEN u.id IS NULL THEN 'gone' WHEN u.suspended_at IS NOT NULL THEN 'suspended'
                         ELSE 'no administrator any more' END || ': revoke it' AS detail
          FROM api_keys k LEFT JOIN users u ON u.id = k.created_by
          WHERE k.created_by IS NOT NULL AND k.suspended_at IS NULL
            AND (u.id IS NULL OR u.role <> 'admin' OR u.suspended_at IS NOT NULL)`,
  },
  {
    kind: 'webhook_delivery',
    sql: `SELECT 'delivery ' || d.id || ' waits to be sent, but its webhook ' || d.hook_id || ' is gone' AS detail
          FROM webhook_deliveries d WHERE d.status = 'pending' AND NOT EXISTS (SELECT 1 FROM webhooks w WHERE w.id = d.hook_id)`,
  },
]

/** `damaged`: an earlier check found it so. */
type CheckedBlob = StoredBlob & { damaged: 0 | 1 }

/** The next contents after the SHA-256 `after`. */
export function listBlobsAfter(db: Db, after: string, limit: number): CheckedBlob[] {
  return db.sqlite
    .query<CheckedBlob, [string, number]>(
      `SELECT sha256, size_bytes AS sizeBytes, pack, offset, object, damaged FROM blobs
       WHERE sha256 > ? ORDER BY sha256 LIMIT ?`,
    )
    .all(after, limit)
}

/** Some of the files with this content, as `owner/repo@sha: path`, and of a project as their keys. */
export function listFilesOf(db: Db, sha256: string, limit: number): string[] {
  return db.sqlite
    .query<{ file: string }, [string, number]>(
      `SELECT p.owner || '/' || p.name || '@' || substr(d.commit_sha, 1, 12) || ': ' || a.path AS file
       FROM blobs b JOIN assets a ON a.blob_id = b.id JOIN deployments d ON d.id = a.deployment_id
       JOIN projects p ON p.id = d.project_id WHERE b.sha256 = ?1
       UNION ALL SELECT p.owner || '/' || p.name || '/uploads/' || f.path
       FROM blobs b JOIN project_files f ON f.blob_id = b.id JOIN projects p ON p.id = f.project_id
       WHERE b.sha256 = ?1 LIMIT ?2`,
    )
    .all(sha256, limit)
    .map(({ file }) => file)
}
