import { inTransaction } from '../db/open.ts'
import { DAY_MS } from '../domain/durations.ts'
import { hashToken } from '../platform/tokens.ts'
import { addHooks } from './access-hooks.ts'
import type { TestApp } from './test-app.ts'

/** A project of acme with one deployment and its alias `production`. */
type SeededSite = { repo: string; projectId: string; deploymentId: string; aliasId: string }

type Value = string | number | null

export function runSql(app: TestApp, sql: string, ...values: Value[]): void {
  inTransaction(app.ctx.db, () => void app.ctx.db.sqlite.run(sql, values))
}

/**
 * Creates one of each thing that a path can name, for a project. Anything that only the project's own people may read
 * contains the text `secret of` the project.
 */
export function addThings(app: TestApp, site: SeededSite): Record<string, string> {
  const ids = { ...newIds(app), ...namesOf(app, site) }
  const run = (sql: string, ...values: Value[]) => runSql(app, sql, ...values)
  addPeople(app, run, ids)
  addPreview(app, run, ids)
  addEntry(app, run, ids)
  addRules(run, ids)
  addRecords(run, ids)
  addFiles(run, ids)
  addSchedule(run, ids)
  return { ...ids, ...addHooks(app, site.projectId, site.repo) }
}

/** A change that nobody can undo. */
function addEntry({ ctx }: TestApp, run: Run, { entryId, projectId }: Ids): void {
  run(
    `INSERT INTO audit_log (id, at, actor_kind, credential, action, target_kind, target_id, project_id)
     VALUES (?, ?, 'operator', 'data directory', 'project.create', 'project', ?, ?)`,
    entryId,
    ctx.now(),
    projectId,
    projectId,
  )
}

type Run = (sql: string, ...values: Value[]) => void
type Ids = ReturnType<typeof newIds> & ReturnType<typeof namesOf>

function newIds({ ctx }: TestApp) {
  const id = ctx.newId
  return {
    groupId: id(),
    invitationId: id(),
    uploadId: id(),
    ruleId: id(),
    ruleSetId: id(),
    revisionId: id(),
    domainId: id(),
    schemaId: id(),
    recordId: id(),
    runId: id(),
    fileId: id(),
    otherFileId: id(),
    previewId: id(),
    entryId: id(),
    pipelineId: id(),
    scheduleId: id(),
  }
}

function namesOf({ ctx }: TestApp, { repo, projectId, deploymentId, aliasId }: SeededSite) {
  const asset = ctx.db.sqlite
    .query<{ id: string }, [string]>('SELECT id FROM assets WHERE deployment_id = ?')
    .get(deploymentId)
  return {
    projectId,
    deploymentId,
    aliasId,
    assetId: asset?.id ?? '',
    owner: 'acme',
    repo,
    host: `production--${repo}--acme.localhost`,
    token: `invitation-token-${repo}`,
    wrongToken: 'wrong-token',
    secretName: 'MAIL_TOKEN',
    previewName: 'pr-1',
    number: '1',
  }
}

function addPeople({ ctx }: TestApp, run: Run, ids: Ids): void {
  const later = ctx.now() + 1000
  const { projectId, groupId, repo } = ids
  run('INSERT INTO groups VALUES (?, ?, NULL, 0, 0)', groupId, `Team of ${repo}`)
  run("INSERT INTO group_permissions VALUES (?, ?, 'contributor', 0)", projectId, groupId)
  run(
    "INSERT INTO invitations VALUES (?, ?, ?, 'guest', ?, 'operator', 0, ?, NULL)",
    ids.invitationId,
    projectId,
    `secret.of.${repo}@example.com`,
    hashToken(ids.token),
    later,
  )
  run("INSERT INTO project_secrets VALUES (?, ?, 'sealed', 0, 'contributor')", projectId, ids.secretName)
  run(
    "INSERT INTO uploads (id, project_id, manifest, created_by, expires_at) VALUES (?, ?, '{}', 'operator', ?)",
    ids.uploadId,
    projectId,
    later,
  )
}

function addPreview({ ctx }: TestApp, run: Run, ids: Ids): void {
  run(
    `INSERT INTO aliases (id, project_id, name, deployment_id, created_at, updated_at, expires_at)
     VALUES (?, ?, ?, ?, 0, 0, ?)`,
    ids.previewId,
    ids.projectId,
    ids.previewName,
    ids.deploymentId,
    ctx.now() + DAY_MS,
  )
  run('INSERT INTO host_labels (label, alias_id) VALUES (?, ?)', `pr-1--${ids.repo}--acme`, ids.previewId)
}

function addRules(run: Run, { projectId, repo, ruleId, ruleSetId, revisionId, domainId }: Ids): void {
  run(
    `INSERT INTO proxy_rules (id, project_id, path_pattern, proxy_type, target_url, strip_prefix, rule_order, timeout_ms,
      preserve_host, forward_cookies, is_enabled, debug_enabled, created_at, updated_at)
     VALUES (?, ?, ?, 'internal_rewrite', '/index.html', 1, 0, 30000, 0, 0, 1, 0, 0, 0)`,
    ruleId,
    projectId,
    `/secret of ${repo}`,
  )
  run(
    `INSERT INTO rule_sets (id, project_id, name, description, is_preview, live_on, created_at, updated_at)
     VALUES (?, ?, 'guestbook', ?, 0, 'project', 0, 0)`,
    ruleSetId,
    projectId,
    `secret of ${repo}`,
  )
  run(
    "INSERT INTO rule_set_revisions VALUES (?, ?, ?, NULL, 'operator', 0)",
    revisionId,
    ruleSetId,
    JSON.stringify({ ruleSet: { description: null, environment: null }, rules: [], schemas: [] }),
  )
  run(
    `INSERT INTO domains (id, project_id, hostname, alias, challenge, verified_by, verified_at, created_at, updated_at)
     VALUES (?, ?, ?, 'production', ?, 'base_domain', 0, 0, 0)`,
    domainId,
    projectId,
    `mapped-${repo}.localhost`,
    `secret of ${repo}`,
  )
}

/** Two, since one may be deleted before its folder is. They have the content of the project's site. */
function addFiles(run: Run, { projectId, repo, fileId, otherFileId, assetId }: Ids): void {
  for (const [id, name] of [
    [fileId, `secret of ${repo}`],
    [otherFileId, 'other'],
  ] as const)
    run(
      `INSERT INTO project_files SELECT ?, ?, ?, blob_id, size_bytes, 'text/plain', 1, 0, 0 FROM assets WHERE id = ?`,
      id,
      projectId,
      `pictures/${name}`,
      assetId,
    )
}

function addRecords(run: Run, { projectId, repo, ruleId, schemaId, recordId, runId }: Ids): void {
  const fields = JSON.stringify([{ name: 'note', type: 'string', required: false, unique: false }])
  const note = JSON.stringify({ note: `secret of ${repo}` })
  run('INSERT INTO schemas VALUES (?, ?, ?, ?, 0, 0)', schemaId, projectId, 'contacts', fields)
  run(
    'INSERT INTO records VALUES ((SELECT coalesce(max(seq), 0) + 1 FROM records), ?, ?, ?, 0, 0)',
    schemaId,
    recordId,
    note,
  )
  run(
    `INSERT INTO pipeline_runs (project_id, id, rule_id, phase, path_pattern, method, path, status, duration_ms, started_at,
      names_secret) VALUES (?, ?, ?, 'steps', '/x', 'GET', ?, 200, 1, 0, 0)`,
    projectId,
    runId,
    ruleId,
    `/secret of ${repo}`,
  )
}

/** Of a pipeline of the rule set. */
function addSchedule(run: Run, { projectId, repo, ruleSetId, pipelineId, scheduleId }: Ids): void {
  run(
    `INSERT INTO proxy_rules (id, project_id, rule_set_id, path_pattern, method, proxy_type, target_url, strip_prefix,
      rule_order, timeout_ms, preserve_host, forward_cookies, is_enabled, debug_enabled, pipeline_config, created_at, updated_at)
     VALUES (?, ?, ?, '/api/refresh', 'POST', 'pipeline', '', 1, 0, 30000, 0, 0, 1, 0, '{"steps":[]}', 0, 0)`,
    pipelineId,
    projectId,
    ruleSetId,
  )
  run(
    `INSERT INTO schedules (id, project_id, rule_set_id, rule_id, method, name, cron, timezone, is_enabled, catch_up,
      description, is_pushed, created_at, updated_at)
     VALUES (?, ?, ?, ?, 'POST', 'refresh', '@daily', 'UTC', 1, 'none', ?, 0, 0, 0)`,
    scheduleId,
    projectId,
    ruleSetId,
    pipelineId,
    `secret of ${repo}`,
  )
}
