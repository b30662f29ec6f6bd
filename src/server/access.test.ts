import { afterAll, beforeAll, expect, test } from 'bun:test'
import { PROJECT_ROLES, type ProjectRole } from '../domain/roles.ts'
import { requestOf } from '../testing/access-request.ts'
import { ACCESS_TABLE, type Who } from '../testing/access-table.ts'
import {
  ACTOR_NAMES,
  ACTORS,
  type Actor,
  createWorld,
  HOSTS,
  type HostName,
  PERSONS,
  type World,
} from '../testing/access-world.ts'
import { createApi } from './endpoints.ts'

/**
 * Every registered route × caller × public and private project × gate off and on × admin host, own site, other site,
 * compared with the hand-written table in `testing/access-table.ts`.
 */

type Expected = 'allowed' | 401 | 403 | 404 | 'ADMIN_HOST_ONLY'
type Situation = { host: HostName; isGated: boolean; isRead: boolean; isAdminHostOnly: boolean }

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world.close())

const STATES = [true, false].flatMap((isPublic) => [false, true].map((isGated) => ({ isPublic, isGated })))

const isRole = (who: Who): who is ProjectRole => (PROJECT_ROLES as readonly string[]).includes(who)
const includes = (role: ProjectRole, least: ProjectRole) =>
  PROJECT_ROLES.indexOf(role) >= PROJECT_ROLES.indexOf(least)

/** contract §2 in its order: 401, then hidden 404, then 403. */
function expectedOf(who: Who, actor: Actor, situation: Situation): Expected {
  if (who === 'anybody') return 'allowed'
  if (who === 'session') return actor.kind === 'person' || actor.kind === 'cli' ? 'allowed' : 401
  if (actor.kind === 'cli') return expectedOfCli(who, PERSONS[actor.of], situation)
  if (actor.kind === 'key') return expectedOfKey(who, actor.of, situation)
  if (actor.kind === 'suspended') return expectedOf(who, { kind: 'anonymous' }, situation)
  if (actor.kind === 'anonymous' || isRefusedByGate(actor, situation)) return who === 'link' ? 'allowed' : 401
  if (who === 'session past the gate') return 'allowed'
  return situation.host === 'admin' ? expectedAtHome(who, actor) : expectedOnSite(who, actor, situation)
}

/** spec: Project membership gate. Nobody here is a member of the other project. */
const isRefusedByGate = (actor: Extract<Actor, { kind: 'person' }>, { host, isGated }: Situation) =>
  isGated && (host === 'other' || (host === 'own' && !actor.isMember))

/** A key acts as contributor, wherever it is used. contract §4 and §7. */
function expectedOfKey(who: Who, of: Extract<Actor, { kind: 'key' }>['of'], { isRead }: Situation): Expected {
  if (of === 'revoked' || of === 'suspended' || who === 'session past the gate') return 401
  if (who === 'any credential' || who === 'link') return 'allowed'
  if (!isRole(who)) return 403
  if (of === 'other') return isRead ? 404 : 403
  return includes('contributor', who) ? 'allowed' : 403
}

/** A person held down to contributor, the same on every host, and nothing but projects. contract 16 §7. */
function expectedOfCli(who: Who, person: Extract<Actor, { kind: 'person' }>, situation: Situation): Expected {
  if (isRefusedByGate(person, situation)) return who === 'link' ? 'allowed' : 401
  if (who === 'session past the gate') return 401
  if (who === 'any credential' || who === 'link') return 'allowed'
  if (!isRole(who)) return 403
  const role = person.globalRole === 'admin' ? 'contributor' : person.role
  if (role === null) return 404
  return includes('contributor', who) && includes(role, who) ? 'allowed' : 403
}

function expectedAtHome(who: Who, { globalRole, role }: Extract<Actor, { kind: 'person' }>): Expected {
  if (globalRole === 'admin') return 'allowed'
  if (who === 'global admin') return 403
  if (who === 'project maker') return globalRole === 'user' ? 'allowed' : 403
  if (!isRole(who)) return 'allowed'
  if (role === null) return 404
  return includes(role, who) ? 'allowed' : 403
}

/** contract §2: A session has fewer rights on a site host. */
function expectedOnSite(
  who: Who,
  { globalRole, role }: Extract<Actor, { kind: 'person' }>,
  { host, isRead, isAdminHostOnly }: Situation,
): Expected {
  if (isAdminHostOnly) return 'ADMIN_HOST_ONLY'
  if (who === 'any credential' && isRead) return 'allowed'
  if (!isRole(who) || !isRead || host === 'other') return 'ADMIN_HOST_ONLY'
  if (globalRole !== 'admin' && role === null) return 404
  if (!includes('viewer', who)) return 'ADMIN_HOST_ONLY'
  return globalRole === 'admin' || (role !== null && includes(role, who)) ? 'allowed' : 403
}

async function outcomeOf(answer: Response, orMissing: boolean): Promise<Expected | string> {
  const { status } = answer
  if (status >= 500) return `${status} ${await answer.text()}`
  if (status !== 401 && status !== 403 && status !== 404) return 'allowed'
  const body = (await answer.json()) as Record<string, unknown>
  if (body['statusCode'] !== status || typeof body['message'] !== 'string') return `${status} without a body`
  if (status === 404 && orMissing) return 'allowed'
  return body['error'] === 'ADMIN_HOST_ONLY' ? 'ADMIN_HOST_ONLY' : status
}

test.each(ACCESS_TABLE.map(([route, who, content]) => ({ route, who, content })))(
  '$route: $who',
  async ({ route, who, content }) => {
    const wrong: string[] = []
    for (const state of STATES) {
      world.set(state)
      for (const host of HOSTS)
        for (const name of ACTOR_NAMES) {
          const isRead = route.startsWith('GET ')
          const isAdminHostOnly = content?.isAdminHostOnly === true
          const situation = { host, isGated: state.isGated, isRead, isAdminHostOnly }
          const expected = expectedOf(who, ACTORS[name], situation)
          const answer = await world.call(name, host, requestOf(route, world.ids, content))
          const outcome = await outcomeOf(answer, content?.orMissing === true && expected === 'allowed')
          if (outcome !== expected)
            wrong.push(`${name}, ${host} host, ${JSON.stringify(state)}: ${outcome}, not ${expected}`)
        }
    }
    expect(wrong).toEqual([])
  },
  60_000,
)

/** Parameter names differ between routes and rows, and a trailing slash does not matter. */
const shapeOf = (route: string): string => route.replace(/:[^/]+/g, ':').replace(/\/$/, '')

test('every registered route has a row, and every row a route', () => {
  const registered = createApi(world.app.ctx)
    .routes.filter(({ method, path }) => !/^(HEAD|OPTIONS)$/.test(method) && !path.startsWith('/api/docs'))
    .map(({ method, path }) => shapeOf(`${method} ${path}`))
  const rows = ACCESS_TABLE.map(([route]) => shapeOf(route))
  expect([...new Set(rows)].sort()).toEqual([...new Set(registered)].sort())
})

/** contract §4: a private site without a sufficient role. `/public` ignores credentials; the admin host has no gate. */
function contentStatus(
  caller: Actor,
  path: 'site' | '/repo' | '/public',
  isPublic: boolean,
  isGated: boolean,
): number {
  const actor = caller.kind === 'cli' ? PERSONS[caller.of] : caller
  if (isPublic) return 200
  if (path === '/public' || actor.kind === 'anonymous' || actor.kind === 'suspended') return 404
  if (actor.kind === 'key') return actor.of === 'docs' || actor.of === 'all' ? 200 : 404
  if (path === 'site' && isGated && !actor.isMember) return 403
  return actor.role !== null || actor.globalRole === 'admin' ? 200 : 403
}

test('the files of a site: caller × visibility × gate × kind of URL', async () => {
  const wrong: string[] = []
  for (const state of STATES) {
    world.set(state)
    for (const name of ACTOR_NAMES)
      for (const [kind, host, path] of [
        ['site', 'own', '/index.html'],
        ['site', 'aaaaaaaaaaaa--docs--acme.localhost', '/index.html'],
        ['site', 'mapped-docs.localhost', '/index.html'],
        ['/repo', 'admin', '/repo/acme/docs/alias/production/index.html'],
        ['/public', 'admin', '/public/acme/docs/production/index.html'],
      ] as const) {
        const { status } = await world.call(name, host, { method: 'GET', path })
        const expected = contentStatus(ACTORS[name], kind, state.isPublic, state.isGated)
        if (status !== expected)
          wrong.push(`${name}, ${kind} at ${host}, ${JSON.stringify(state)}: ${status}, not ${expected}`)
      }
  }
  expect(wrong).toEqual([])
})
