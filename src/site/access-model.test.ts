import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { ProjectRole } from '../domain/roles.ts'
import { ask } from '../testing/ask.ts'
import { DOCS, SEED_OWNER, seedDeployment } from '../testing/seed.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { type TestApp, testApp } from '../testing/test-app.ts'

// Applies random histories of roles, groups, memberships, visibility and the gate to the server and to a small model
// written from the specification. Whatever happened before or was cached, the next request must see the current state.

const ROOT = 'root@example.com'
const PEOPLE = ['ann@example.com', 'bob@example.com', 'eve@example.com']
const LEVELS: readonly ProjectRole[] = ['guest', 'viewer', 'contributor', 'admin', 'owner']
const GIVEN: readonly ProjectRole[] = ['guest', 'viewer', 'contributor', 'admin']
const STEPS = 60

type World = {
  isPublic: boolean
  aliasIsPublic: boolean | null
  requiredRole: ProjectRole
  aliasRequiredRole: ProjectRole | null
  gate: boolean
  direct: Map<string, ProjectRole>
  members: Set<string>
  team: Set<string>
  teamRole: ProjectRole | null
}

/** One request that changes something, and the matching change of the model. */
type Step = { as: string; call: string; json?: object; isPossible?: boolean; apply: () => void }
type Place = { projectId: string; aliasId: string; host: string; team: string }

let app: TestApp
const ids = new Map<string, string>()
beforeAll(async () => {
  app = await testApp()
  await app.addUser(ROOT, 'admin')
  for (const email of PEOPLE) ids.set(email, await app.addUser(email, 'member'))
})
afterAll(() => app.close())

test.each([1, 2, 3, 4, 5, 6])('the history of seed %d', async (seed) => {
  const random = seededRandom(seed)
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
  const place = await newPlace(seed)
  const world = newWorld()
  const history: string[] = []
  for (let i = 0; i < STEPS; i++) {
    const step = pick(stepsFrom(world, place, pick).filter(({ isPossible }) => isPossible !== false))
    const [method = '', path = ''] = step.call.split(' ')
    const { status } = await ask(app, method, path, { as: step.as, json: step.json })
    history.push(`${step.call} ${JSON.stringify(step.json)}`)
    step.apply()
    expect({ history, status: status < 300, seen: await seen(place) }).toEqual({
      history,
      status: true,
      seen: [null, ...PEOPLE].map((person) => modelled(world, person)),
    })
  }
})

async function newPlace(seed: number): Promise<Place> {
  const repo = `docs-${seed}`
  const seeded = await seedDeployment(app, { ...DOCS, repo, alias: 'production', isPublic: false })
  await ask(app, 'PATCH', '/api/settings', { as: ROOT, json: { requireProjectMembership: false } })
  const { body } = await ask(app, 'POST', '/api/groups', { as: ROOT, json: { name: `Team ${seed}` } })
  const { projectId, aliasId, aliasHost } = seeded
  return { projectId, aliasId: aliasId ?? '', host: aliasHost ?? '', team: String(body['id']) }
}

const newWorld = (): World => ({
  isPublic: false,
  aliasIsPublic: null,
  requiredRole: 'guest',
  aliasRequiredRole: null,
  gate: false,
  direct: new Map(),
  members: new Set(),
  team: new Set(),
  teamRole: null,
})

/** The site's status, whether it has a session, and the role on the project (or the status instead). */
type Seen = [site: number, hasSession: boolean, role: string]

/** For everybody, anonymous first. */
const seen = ({ host, projectId }: Place): Promise<Seen[]> =>
  Promise.all(
    [undefined, ...PEOPLE].map(async (as): Promise<Seen> => {
      const site = await app.call('GET', '/', { as, host, headers: { accept: 'text/html' } })
      const session = await ask(app, 'GET', '/api/auth/session', { as, host })
      const project = await ask(app, 'GET', `/api/projects/${projectId}`, { as })
      return [site.status, session.body['user'] !== null, String(project.body['role'] ?? project.status)]
    }),
  )

function modelled(world: World, person: string | null): Seen {
  const isPublic = world.aliasIsPublic ?? world.isPublic
  if (person === null) return [isPublic ? 200 : 404, false, '401']
  const role = roleOf(world, person)
  const passesGate = !world.gate || world.members.has(person)
  const isEnough = levelOf(role) >= levelOf(world.aliasRequiredRole ?? world.requiredRole)
  return [isPublic || (passesGate && isEnough) ? 200 : 403, passesGate, role ?? '404']
}

const levelOf = (role: ProjectRole | null | undefined): number => (role ? LEVELS.indexOf(role) : -1)
const higher = (a: ProjectRole | null | undefined, b: ProjectRole | null | undefined): ProjectRole | null =>
  (levelOf(a) >= levelOf(b) ? a : b) ?? null
const roleOf = (world: World, person: string): ProjectRole | null =>
  higher(world.direct.get(person), world.team.has(person) ? world.teamRole : null)

type Pick = <T>(from: readonly T[]) => T

function stepsFrom(world: World, place: Place, pick: Pick): Step[] {
  const flag = pick([true, false])
  const required = pick(LEVELS)
  const project = `PATCH /api/projects/${place.projectId}`
  const alias = `PATCH /api/aliases/${place.aliasId}`
  const set = <K extends keyof World>(key: K, value: World[K]) => ({
    apply: () => {
      world[key] = value
    },
  })
  const aliasIsPublic = pick([flag, null])
  const aliasRequiredRole = pick([required, null])
  return [
    { as: SEED_OWNER, call: project, json: { isPublic: flag }, ...set('isPublic', flag) },
    { as: SEED_OWNER, call: project, json: { requiredRole: required }, ...set('requiredRole', required) },
    {
      as: SEED_OWNER,
      call: alias,
      json: { isPublic: aliasIsPublic },
      ...set('aliasIsPublic', aliasIsPublic),
    },
    {
      as: SEED_OWNER,
      call: alias,
      json: { requiredRole: aliasRequiredRole },
      ...set('aliasRequiredRole', aliasRequiredRole),
    },
    {
      as: ROOT,
      call: 'PATCH /api/settings',
      json: { requireProjectMembership: flag },
      ...set('gate', flag),
    },
    ...personSteps(world, place, pick(PEOPLE), pick(GIVEN)),
    ...teamSteps(world, place, pick(PEOPLE), pick(GIVEN)),
  ]
}

function personSteps(world: World, { projectId }: Place, person: string, role: ProjectRole): Step[] {
  const project = `/api/projects/${projectId}`
  const id = ids.get(person)
  const join = (held: ProjectRole) => {
    world.direct.set(person, held)
    world.members.add(person)
  }
  const part = () => {
    world.direct.delete(person)
    world.members.delete(person)
  }
  const isMember = world.members.has(person)
  const grant = `POST ${project}/permissions/users`
  const invite = `POST ${project}/invitations`
  return [
    { as: SEED_OWNER, call: grant, json: { userId: id, role }, apply: () => join(role) },
    {
      as: SEED_OWNER,
      call: invite,
      json: { email: person, role },
      apply: () => join(higher(world.direct.get(person), role) ?? role),
    },
    {
      as: SEED_OWNER,
      call: `DELETE ${project}/permissions/users/${id}`,
      isPossible: world.direct.has(person),
      apply: () => void world.direct.delete(person),
    },
    { as: SEED_OWNER, call: `DELETE ${project}/members/${id}`, isPossible: isMember, apply: part },
    { as: person, call: `DELETE /api/account/sites/${projectId}`, isPossible: isMember, apply: part },
  ]
}

function teamSteps(world: World, { projectId, team }: Place, person: string, role: ProjectRole): Step[] {
  const groups = `/api/projects/${projectId}/permissions/groups`
  const members = `/api/groups/${team}/members`
  const id = ids.get(person)
  const isIn = world.team.has(person)
  const give = (held: ProjectRole | null) => ({
    apply: () => {
      world.teamRole = held
    },
  })
  return [
    { as: SEED_OWNER, call: `POST ${groups}`, json: { groupId: team, role }, ...give(role) },
    {
      as: SEED_OWNER,
      call: `DELETE ${groups}/${team}`,
      isPossible: world.teamRole !== null,
      ...give(null),
    },
    {
      as: ROOT,
      call: `POST ${members}`,
      json: { userId: id },
      isPossible: !isIn,
      apply: () => void world.team.add(person),
    },
    {
      as: ROOT,
      call: `DELETE ${members}/${id}`,
      isPossible: isIn,
      apply: () => void world.team.delete(person),
    },
  ]
}
