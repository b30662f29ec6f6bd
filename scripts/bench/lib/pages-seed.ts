import { Database } from 'bun:sqlite'
import { join } from 'node:path'

/** How many there are of each once `fillUp` is done. */
export type Crowd = { projects: number; deployments: number; records: number }

/** What is copied: a project with a deployment and an alias, and a schema with a record. */
export type Models = { projectId: string; deploymentId: string; schemaId: string; userId: string }

/**
 * Fills the database of an appliance that is not running, also of an earlier build, in one transaction. Of the deployments the model project gets a
 * half, of the records its schema gets all: what a page shows of one project must hold for the big one of a workspace.
 */
export function fillUp(dataDir: string, models: Models, crowd: Crowd): void {
  const sqlite = new Database(join(dataDir, 'svc.db'), { strict: true })
  const fill = (sql: string, count: number, more: Record<string, string | number> = {}) =>
    sqlite.prepare(`${NUMBERS} ${sql}`).run({ count, at: Date.now(), ...more })
  const { projectId: project, deploymentId: deployment, schemaId: schema, userId: user } = models
  sqlite
    .transaction(() => {
      fill(PROJECTS, crowd.projects - 1)
      sqlite
        .prepare(
          `INSERT INTO permissions SELECT id, ?, 'owner', created_at FROM projects
           WHERE id NOT IN (SELECT project_id FROM permissions WHERE role = 'owner')`,
        )
        .run(user)
      fill(DEPLOYMENTS, crowd.deployments - 1, { project, deployment })
      fill(ASSETS, crowd.deployments - 1, { deployment })
      fill(ALIASES, crowd.projects - 1)
      fill(LABELS, crowd.projects - 1)
      fill(AUDIT, crowd.deployments - 1, { project, user })
      fill(RECORDS, crowd.records - 1, { schema })
      sqlite.run('UPDATE site_generation SET sites = sites + 1, access = access + 1')
    })
    .immediate()
  sqlite.run('PRAGMA wal_checkpoint(TRUNCATE)')
  sqlite.close()
}

const NUMBERS = `WITH RECURSIVE numbers (n) AS (SELECT 1 WHERE $count > 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < $count)`

/** An id that is older than every real one, and greater the greater `n` is. */
const idOf = (kind: number, n = 'n') => `printf('01900000-%04x-7000-8000-%012x', ${kind}, ${n})`
const [PROJECT, DEPLOYMENT, ASSET, ALIAS, ENTRY, RECORD] = [1, 2, 3, 4, 5, 6]
/** A minute apart, up to now. */
const THEN = '$at - ($count - n) * 60000'

const PROJECTS = `INSERT INTO projects (id, owner, name, display_name, is_public, allow_public_signup, required_role,
  is_spa, private_site_response, created_at, updated_at)
  SELECT ${idOf(PROJECT)}, 'team-' || (n % 20), 'site-' || n, 'Site ' || n, n % 2, 0, 'guest', NULL, NULL, ${THEN}, ${THEN}
  FROM numbers`

/** Every second one is of the model project, the others of all others in turn. */
const DEPLOYMENTS = `INSERT INTO deployments (id, project_id, commit_sha, branch, description, base_path, file_count,
  total_size, version, created_by, created_at, updated_at)
  SELECT ${idOf(DEPLOYMENT)},
    iif(n % 2 = 0, $project, (SELECT ${idOf(PROJECT, '1 + (n / 2) % (SELECT count(*) - 1 FROM projects)')})),
    printf('%040x', n * 7919), iif(n % 3 = 0, 'main', 'branch-' || (n % 50)), 'Change ' || n, '', model.file_count,
    model.total_size, 1, model.created_by, ${THEN}, ${THEN}
  FROM numbers, (SELECT * FROM deployments WHERE id = $deployment) AS model`

const ASSETS = `INSERT INTO assets (id, deployment_id, path, blob_id, size_bytes)
  SELECT printf('01900000-%04x-7000-8%03x-%012x', ${ASSET}, row_number() OVER (PARTITION BY n), n), ${idOf(DEPLOYMENT)},
    path, blob_id, size_bytes
  FROM numbers, (SELECT * FROM assets WHERE deployment_id = $deployment)`

const ALIASES = `INSERT INTO aliases (id, project_id, name, deployment_id, created_at, updated_at)
  SELECT ${idOf(ALIAS)}, id, 'production', deployment_id, ${THEN}, ${THEN} FROM numbers
  JOIN projects ON id = ${idOf(PROJECT)}
  JOIN (SELECT project_id, min(id) AS deployment_id FROM deployments GROUP BY 1) ON project_id = projects.id`

const LABELS = `INSERT INTO host_labels (label, alias_id)
  SELECT 'production--site-' || n || '--team-' || (n % 20), id FROM numbers JOIN aliases ON id = ${idOf(ALIAS)}`

const AUDIT = `INSERT INTO audit_log (id, at, actor_kind, actor_id, actor_name, credential, ip, action, target_kind,
  target_id, project_id, before, after)
  SELECT ${idOf(ENTRY)}, ${THEN}, 'user', $user, 'bench@example.com', 'session', '127.0.0.1', 'deployment.create',
    'deployment', ${idOf(DEPLOYMENT)}, iif(n % 2 = 0, $project, NULL), NULL, '{"fileCount":4}'
  FROM numbers`

/** Names come 1 000 times each, numbers never twice, and no order of a field is the order of time. */
const RECORDS = `INSERT INTO records (schema_id, id, data, created_at, updated_at)
  SELECT $schema, ${idOf(RECORD)}, json_object('name', 'Guest ' || (n * 37 % 100), 'email', 'guest' || n || '@example.com',
    'stars', n * 7919 % 100003, 'message', 'What a lovely place, we will come again in year ' || n), ${THEN}, ${THEN}
  FROM numbers`
