import { inTransaction } from '../db/open.ts'
import { ACCESS_COOKIE, REFRESH_COOKIE } from '../domain/cookies.ts'
import type { GlobalRole, ProjectRole } from '../domain/roles.ts'
import { openSession } from '../modules/auth/sessions.ts'
import { hashToken } from '../platform/tokens.ts'
import { seedDeployment } from './seed.ts'
import { type TestApp, testApp } from './test-app.ts'

/** `role` is what the person holds on `acme/docs`; nobody of them has anything to do with `acme/other`. */
export type Actor =
  | { kind: 'anonymous' }
  | { kind: 'person'; globalRole: GlobalRole; role: ProjectRole | null; isMember: boolean }
  | { kind: 'key'; of: 'docs' | 'other' | 'all' | 'revoked' }

export const ACTORS = {
  anonymous: { kind: 'anonymous' },
  guest: { kind: 'person', globalRole: 'user', role: 'guest', isMember: true },
  viewer: { kind: 'person', globalRole: 'user', role: 'viewer', isMember: true },
  contributor: { kind: 'person', globalRole: 'user', role: 'contributor', isMember: true },
  admin: { kind: 'person', globalRole: 'user', role: 'admin', isMember: true },
  owner: { kind: 'person', globalRole: 'user', role: 'owner', isMember: true },
  /** By a group, which makes no membership: the gate refuses them. */
  'non-member': { kind: 'person', globalRole: 'user', role: 'contributor', isMember: false },
  'global admin': { kind: 'person', globalRole: 'admin', role: null, isMember: false },
  'plain user': { kind: 'person', globalRole: 'user', role: null, isMember: false },
  'plain member': { kind: 'person', globalRole: 'member', role: null, isMember: false },
  'project key': { kind: 'key', of: 'docs' },
  "other project's key": { kind: 'key', of: 'other' },
  'global key': { kind: 'key', of: 'all' },
  'revoked key': { kind: 'key', of: 'revoked' },
} as const satisfies Record<string, Actor>

export type ActorName = keyof typeof ACTORS
export const ACTOR_NAMES = Object.keys(ACTORS) as ActorName[]

/** `own` and `other`: the site hosts of `acme/docs` and `acme/other`. */
export const HOSTS = ['admin', 'own', 'other'] as const
export type HostName = (typeof HOSTS)[number]

export type WorldRequest = {
  method: string
  /** With the query. */
  path: string
  json?: unknown
  body?: BodyInit | undefined
  headers?: Record<string, string> | undefined
}

/** An appliance with two projects and everybody who can be anybody to the first. */
export type World = {
  app: TestApp
  /** What stands for `:name` in paths and `{name}` in bodies: everything belongs to `acme/docs` and exists. */
  ids: Record<string, string>
  set(state: { isPublic: boolean; isGated: boolean }): void
  /** Calls and, unless it only reads, takes back what it did. */
  call(actor: ActorName, host: HostName, request: WorldRequest): Promise<Response>
  close(): void
}

export async function createWorld(): Promise<World> {
  const app = await testApp()
  const docs = await seedSite(app, 'docs')
  const other = await seedSite(app, 'other')
  const hosts = { admin: 'localhost', own: docs.host, other: other.host }
  const ids = addThings(app, docs)
  const credentials = addActors(app, docs.projectId, other.projectId, ids)
  const forget = generationKeeper(app)

  return {
    app,
    ids,
    close: app.close,
    set({ isPublic, isGated }) {
      run(app, 'UPDATE projects SET is_public = ?', Number(isPublic))
      run(app, "INSERT OR REPLACE INTO settings VALUES ('requireProjectMembership', ?, 0)", String(isGated))
      forget()
    },
    async call(actor, host, { method, path, headers, ...content }) {
      const send = () =>
        app.call(method, path, {
          ...content,
          host: hosts[host],
          headers: { ...credentials[actor], ...headers },
        })
      if (method === 'GET') return send()
      app.ctx.db.sqlite.run('BEGIN')
      try {
        return await send()
      } finally {
        app.ctx.db.sqlite.run('ROLLBACK')
        forget()
      }
    },
  }
}

async function seedSite(app: TestApp, repo: string) {
  const site = await seedDeployment(app, {
    owner: 'acme',
    repo,
    sha: 'a'.repeat(40),
    alias: 'production',
    files: { 'index.html': `<h1>${repo}</h1>` },
  })
  if (site.aliasHost === null || site.aliasId === null) throw new Error('The site has no alias')
  return {
    projectId: site.projectId,
    deploymentId: site.deploymentId,
    aliasId: site.aliasId,
    host: site.aliasHost,
  }
}

function run(app: TestApp, sql: string, ...values: (string | number | null)[]): void {
  inTransaction(app.ctx.db, () => void app.ctx.db.sqlite.run(sql, values))
}

/** What is rolled back takes the generation back with it, so that caches could mistake the next change for the last. */
function generationKeeper(app: TestApp): () => void {
  let generation = 1_000_000
  return () => {
    generation += 1000
    run(app, 'UPDATE site_generation SET sites = ?, access = ?', generation, generation)
  }
}

/** One of each thing that a path can name. */
function addThings(
  app: TestApp,
  docs: { projectId: string; deploymentId: string; aliasId: string },
): Record<string, string> {
  const { projectId, deploymentId, aliasId } = docs
  const asset = app.ctx.db.sqlite
    .query<{ id: string }, [string]>('SELECT id FROM assets WHERE deployment_id = ?')
    .get(deploymentId)
  const ids = {
    projectId,
    deploymentId,
    aliasId,
    assetId: asset?.id ?? '',
    groupId: app.ctx.newId(),
    invitationId: app.ctx.newId(),
    uploadId: app.ctx.newId(),
    ruleId: app.ctx.newId(),
    ruleSetId: app.ctx.newId(),
    revisionId: app.ctx.newId(),
    domainId: app.ctx.newId(),
    schemaId: app.ctx.newId(),
    recordId: app.ctx.newId(),
    runId: app.ctx.newId(),
    owner: 'acme',
    repo: 'docs',
    token: 'invitation-token',
    wrongToken: 'wrong-token',
    secretName: 'MAIL_TOKEN',
  }
  run(app, "INSERT INTO groups VALUES (?, 'Team', NULL, 0, 0)", ids.groupId)
  run(app, "INSERT INTO group_permissions VALUES (?, ?, 'contributor', 0)", projectId, ids.groupId)
  run(
    app,
    "INSERT INTO invitations VALUES (?, ?, 'new@example.com', 'guest', ?, 'operator', 0, ?, NULL)",
    ids.invitationId,
    projectId,
    hashToken(ids.token),
    app.ctx.now() + 1000,
  )
  run(app, "INSERT INTO project_secrets VALUES (?, ?, 'sealed', 0)", projectId, ids.secretName)
  run(
    app,
    "INSERT INTO uploads VALUES (?, ?, '{}', 'operator', ?)",
    ids.uploadId,
    projectId,
    app.ctx.now() + 1000,
  )
  run(
    app,
    `INSERT INTO proxy_rules (id, project_id, path_pattern, proxy_type, target_url, strip_prefix, rule_order, timeout_ms,
      preserve_host, forward_cookies, is_enabled, debug_enabled, created_at, updated_at)
     VALUES (?, ?, '/elsewhere', 'internal_rewrite', '/index.html', 1, 0, 30000, 0, 0, 1, 0, 0, 0)`,
    ids.ruleId,
    projectId,
  )
  run(
    app,
    `INSERT INTO rule_sets (id, project_id, name, is_preview, live_on, created_at, updated_at)
     VALUES (?, ?, 'guestbook', 0, 'project', 0, 0)`,
    ids.ruleSetId,
    projectId,
  )
  run(
    app,
    "INSERT INTO rule_set_revisions VALUES (?, ?, ?, NULL, 'operator', 0)",
    ids.revisionId,
    ids.ruleSetId,
    JSON.stringify({ ruleSet: { description: null, environment: null }, rules: [], schemas: [] }),
  )
  run(
    app,
    `INSERT INTO domains (id, project_id, hostname, alias, challenge, verified_by, verified_at, created_at, updated_at)
     VALUES (?, ?, 'mapped.localhost', 'production', 'challenge', 'base_domain', 0, 0, 0)`,
    ids.domainId,
    projectId,
  )
  run(app, "INSERT INTO schemas VALUES (?, ?, 'contacts', '[]', 0, 0)", ids.schemaId, projectId)
  run(app, "INSERT INTO records VALUES (1, ?, ?, '{}', 0, 0)", ids.schemaId, ids.recordId)
  run(
    app,
    "INSERT INTO pipeline_runs VALUES (?, ?, ?, NULL, 'steps', '/x', 'GET', '/x', 200, 1, NULL, NULL, NULL, 0)",
    projectId,
    ids.runId,
    ids.ruleId,
  )
  return ids
}

type Credential = Record<string, string>

function addActors(
  app: TestApp,
  docs: string,
  other: string,
  ids: Record<string, string>,
): Record<ActorName, Credential> {
  const add = (name: ActorName): Credential => {
    const actor: Actor = ACTORS[name]
    if (actor.kind === 'anonymous') return {}
    if (actor.kind === 'person') return addPerson(app, docs, name, actor, ids)
    return addKey(app, name, { docs, other, all: null, revoked: undefined }[actor.of], ids)
  }
  const credentials = Object.fromEntries(ACTOR_NAMES.map((name) => [name, add(name)]))
  return credentials as Record<ActorName, Credential>
}

function addPerson(
  app: TestApp,
  docs: string,
  name: string,
  { globalRole, role, isMember }: Extract<Actor, { kind: 'person' }>,
  ids: Record<string, string>,
): Credential {
  const id = app.ctx.newId()
  ids[`${name} id`] = id
  const email = `${name.replace(' ', '-')}@example.com`
  run(
    app,
    'INSERT INTO users (id, email, role, created_at, updated_at) VALUES (?, ?, ?, 0, 0)',
    id,
    email,
    globalRole,
  )
  if (role === 'owner') run(app, 'INSERT INTO ownership_transfers VALUES (?, ?, 0)', docs, id)
  else if (role !== null && isMember) {
    run(app, 'INSERT INTO permissions VALUES (?, ?, ?, 0)', docs, id, role)
    run(app, 'INSERT INTO memberships VALUES (?, ?, 0)', docs, id)
  } else if (role !== null) run(app, 'INSERT INTO group_members VALUES (?, ?, 0)', ids['groupId'] ?? '', id)
  const { tokens } = inTransaction(app.ctx.db, (tx) =>
    openSession(app.ctx, tx, id, { ip: '127.0.0.1', userAgent: '' }),
  )
  return { cookie: `${ACCESS_COOKIE}=${tokens.access}; ${REFRESH_COOKIE}=${tokens.refresh}` }
}

/** `projectId` null: global; undefined: none, as the key was revoked. */
function addKey(
  app: TestApp,
  name: string,
  projectId: string | null | undefined,
  ids: Record<string, string>,
): Credential {
  const key = `svc_${name}`
  const id = app.ctx.newId()
  if (projectId !== undefined) {
    const isGlobal = Number(projectId === null)
    run(
      app,
      "INSERT INTO api_keys VALUES (?, ?, 'svc_', ?, ?, ?, NULL, 0, NULL, ?)",
      id,
      name,
      hashToken(key),
      projectId,
      isGlobal,
      app.ctx.now(),
    )
    ids[`${name} id`] = id
  }
  return { 'x-api-key': key }
}
