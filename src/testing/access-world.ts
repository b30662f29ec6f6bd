import { inTransaction } from '../db/open.ts'
import { ACCESS_COOKIE, REFRESH_COOKIE } from '../domain/cookies.ts'
import type { GlobalRole, ProjectRole } from '../domain/roles.ts'
import { operatorGrant } from '../modules/auth/authorize.ts'
import { openCliSession } from '../modules/auth/sessions/cli.ts'
import { openSession } from '../modules/auth/sessions.ts'
import { suspendUser } from '../modules/users/suspension.ts'
import { hashToken } from '../platform/tokens.ts'
import { addThings, runSql as run } from './access-things.ts'
import { seedDeployment } from './seed.ts'
import { type TestApp, testApp } from './test-app.ts'

/** `role` is the person's role on `acme/docs`; nobody has any role on `acme/other`. */
export type Actor =
  | { kind: 'anonymous' }
  | { kind: 'person'; globalRole: GlobalRole; role: ProjectRole | null; isMember: boolean }
  /** A person by `svc login`. */
  | { kind: 'cli'; of: PersonName }
  | { kind: 'key'; of: 'docs' | 'other' | 'all' | 'revoked' | 'suspended' }
  /** With the cookies of before. */
  | { kind: 'suspended' }

export const PERSONS = {
  guest: { kind: 'person', globalRole: 'user', role: 'guest', isMember: true },
  viewer: { kind: 'person', globalRole: 'user', role: 'viewer', isMember: true },
  contributor: { kind: 'person', globalRole: 'user', role: 'contributor', isMember: true },
  admin: { kind: 'person', globalRole: 'user', role: 'admin', isMember: true },
  owner: { kind: 'person', globalRole: 'user', role: 'owner', isMember: true },
  /** Has the role through a group, which is not a membership: the gate rejects them. */
  'non-member': { kind: 'person', globalRole: 'user', role: 'contributor', isMember: false },
  'global admin': { kind: 'person', globalRole: 'admin', role: null, isMember: false },
  'plain user': { kind: 'person', globalRole: 'user', role: null, isMember: false },
  'plain member': { kind: 'person', globalRole: 'member', role: null, isMember: false },
} as const satisfies Record<string, Actor>
type PersonName = keyof typeof PERSONS

export const ACTORS = {
  anonymous: { kind: 'anonymous' },
  ...PERSONS,
  'guest by svc login': { kind: 'cli', of: 'guest' },
  'viewer by svc login': { kind: 'cli', of: 'viewer' },
  'contributor by svc login': { kind: 'cli', of: 'contributor' },
  'owner by svc login': { kind: 'cli', of: 'owner' },
  'non-member by svc login': { kind: 'cli', of: 'non-member' },
  'global admin by svc login': { kind: 'cli', of: 'global admin' },
  'plain user by svc login': { kind: 'cli', of: 'plain user' },
  'project key': { kind: 'key', of: 'docs' },
  "other project's key": { kind: 'key', of: 'other' },
  'global key': { kind: 'key', of: 'all' },
  'revoked key': { kind: 'key', of: 'revoked' },
  'suspended admin': { kind: 'suspended' },
  "suspended admin's key": { kind: 'key', of: 'suspended' },
} as const satisfies Record<string, Actor>

export type ActorName = keyof typeof ACTORS
export const ACTOR_NAMES = Object.keys(ACTORS) as ActorName[]

/** `own` and `other`: the site hosts of `acme/docs` and `acme/other`. */
export const HOSTS = ['admin', 'own', 'other'] as const
export type HostName = (typeof HOSTS)[number]
/** One of these, or a literal host name. */
type WorldHost = HostName | `${string}.localhost`

export type WorldRequest = {
  method: string
  /** Includes the query. */
  path: string
  json?: unknown
  body?: BodyInit | undefined
  headers?: Record<string, string> | undefined
}

/** A server with two projects and every kind of caller for the first. */
export type World = {
  app: TestApp
  /** The values of `:name` in paths and `{name}` in bodies: things of `acme/docs` that exist. */
  ids: Record<string, string>
  /** The same kinds of things in `acme/other`. */
  foreignIds: Record<string, string>
  set(state: { isPublic: boolean; isGated: boolean }): void
  /** Calls, and rolls back any change; `inspect` runs before the rollback. */
  call(actor: ActorName, host: WorldHost, request: WorldRequest, inspect?: () => void): Promise<Response>
  close(): void
}

export const WORLD_ENV = { CDN_KIND: 'varnish', CDN_URL: 'http://cache.test' }

/** `call` sends to the server, or to another one of the same workspace. */
export async function createWorld(given?: { app: TestApp; call: TestApp['call'] }): Promise<World> {
  const app = given?.app ?? (await testApp(WORLD_ENV))
  const call = given?.call ?? app.call
  const docs = await seedSite(app, 'docs')
  const other = await seedSite(app, 'other')
  const hosts: Record<string, string> = { admin: 'localhost', own: docs.host, other: other.host }
  const ids = addThings(app, docs)
  const foreignIds = addThings(app, other)
  const credentials = addActors(app, docs.projectId, other.projectId, ids)
  const advance = generationKeeper(app)
  const warm = new Set<string>()
  const forget = () => {
    advance()
    warm.clear()
  }
  /** Inside the transaction of a call nothing is cached, and loading the rules of a site takes longer than most calls. */
  const warmUp = async (host: string) => {
    if (!warm.has(host)) await call('GET', '/api/health', { host })
    warm.add(host)
  }

  return {
    app,
    ids,
    foreignIds,
    close: app.close,
    set({ isPublic, isGated }) {
      run(app, 'UPDATE projects SET is_public = ?', Number(isPublic))
      run(app, "INSERT OR REPLACE INTO settings VALUES ('requireProjectMembership', ?, 0)", String(isGated))
      forget()
    },
    async call(actor, host, { method, path, headers, ...content }, inspect) {
      const at = hosts[host] ?? host
      const send = () =>
        call(method, path, {
          ...content,
          host: at,
          headers: { ...credentials[actor], ...headers },
        })
      if (method === 'GET') return send()
      await warmUp(at)
      const before = changesOf(app)
      app.ctx.db.sqlite.run('BEGIN')
      try {
        const answer = await send()
        inspect?.()
        return answer
      } finally {
        app.ctx.db.sqlite.run('ROLLBACK')
        // Most calls are refused, and what they leave in the caches is still so.
        if (changesOf(app) !== before) forget()
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
    repo,
    projectId: site.projectId,
    deploymentId: site.deploymentId,
    aliasId: site.aliasId,
    host: site.aliasHost,
  }
}

/** The rows that this connection has ever changed, with those that were rolled back. */
const changesOf = ({ ctx }: TestApp): number =>
  ctx.db.sqlite.query<{ rows: number }, []>('SELECT total_changes() AS rows').get()?.rows ?? 0

/**
 * Keeps the generation moving forward: a rollback would reset it, and caches could mistake the next change for the
 * last.
 */
function generationKeeper(app: TestApp): () => void {
  let generation = 1_000_000
  return () => {
    generation += 1000
    run(app, 'UPDATE site_generation SET sites = ?, access = ?', generation, generation)
  }
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
    if (actor.kind === 'cli') return addCli(app, ids[`${actor.of} id`] ?? '', name)
    if (actor.kind === 'person') return addPerson(app, docs, name, actor, ids)
    if (actor.kind === 'suspended') return addPerson(app, docs, name, TO_SUSPEND, ids)
    return addKey(app, name, { docs, other, all: null, suspended: null, revoked: undefined }[actor.of], ids)
  }
  const credentials = Object.fromEntries(ACTOR_NAMES.map((name) => [name, add(name)]))
  const suspended = ids['suspended admin id'] ?? ''
  run(
    app,
    'UPDATE api_keys SET created_by = ? WHERE id = ?',
    suspended,
    ids["suspended admin's key id"] ?? '',
  )
  suspendUser(app.ctx, operatorGrant(), suspended)
  return credentials as Record<ActorName, Credential>
}

/** Could do everything before. */
const TO_SUSPEND = { kind: 'person', globalRole: 'admin', role: 'admin', isMember: true } as const

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

function addCli(app: TestApp, personId: string, name: string): Credential {
  const { token } = inTransaction(app.ctx.db, (tx) =>
    openCliSession(app.ctx, tx, personId, { ip: '127.0.0.1', userAgent: '', name }),
  )
  return { authorization: `Bearer ${token}` }
}

/** `projectId` null: a global key; undefined: no key, because it was revoked. */
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
      "INSERT INTO api_keys (id, name, prefix, token_hash, project_id, is_global, created_at, last_used_at) VALUES (?, ?, 'svc_', ?, ?, ?, 0, ?)",
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
