import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Ids, namesIn, requestOf } from '../testing/access-request.ts'
import { ACCESS_TABLE, type Content } from '../testing/access-table.ts'
import { type ActorName, createWorld, type HostName, type World } from '../testing/access-world.ts'

/**
 * Mixes the ids of two projects in every route with an id. Callers without a role on `acme/other` must not see or change
 * its things, and nobody may reach them through `acme/docs`.
 */

/** Kinds of things that belong to one project. */
const OF_A_PROJECT: readonly string[] = [
  ...[
    'projectId',
    'deploymentId',
    'aliasId',
    'assetId',
    'invitationId',
    'uploadId',
    'domainId',
    'host',
    'previewId',
    'entryId',
  ],
  ...['ruleId', 'ruleSetId', 'revisionId', 'schemaId', 'recordId', 'runId', 'repo', 'hookId', 'deliveryId'],
  ...['scheduleId', 'pipelineId', 'fileId'],
]

/** Ids in bodies and queries that the access table does not need. */
const MORE: [route: string, content: Content][] = [
  ['GET /api/deployments', { query: 'projectId={projectId}' }],
  ['GET /api/deployments', { query: 'owner=acme&repo={repo}' }],
  ['GET /api/aliases', { query: 'projectId={projectId}' }],
  ['GET /api/aliases', { query: 'owner=acme&repo={repo}' }],
  ['GET /api/domains', { query: 'projectId={projectId}' }],
  ['GET /api/logs', { query: 'projectId={projectId}' }],
  ['POST /api/aliases', { json: { projectId: '{projectId}', name: 'x', deploymentId: '{deploymentId}' } }],
  ['PATCH /api/aliases/:aliasId', { json: { deploymentId: '{deploymentId}' } }],
  [
    'POST /api/projects/:projectId/schedules',
    { json: { name: 'x', cron: '@daily', ruleId: '{pipelineId}' } },
  ],
  ['PUT /api/proxy-rules/project/:projectId/reorder', { json: { ruleIds: ['{ruleId}'] } }],
  [
    'POST /api/deployments/manifest',
    { json: { owner: 'acme', repo: '{repo}', commitSha: 'b'.repeat(40), files: [] } },
  ],
  ['POST /api/domains', { json: { projectId: '{projectId}', hostname: 'x.example', alias: 'production' } }],
  ['POST /api/api-keys', { json: { name: 'x', projectId: '{projectId}' } }],
  ['POST /api/api-keys', { json: { name: 'x', repository: 'acme/{repo}' } }],
]

type Case = { route: string; content: Content; names: string[] }

const CASES: Case[] = [...ACCESS_TABLE.map(([route, , content = {}]) => [route, content] as const), ...MORE]
  .map(([route, content]) => ({ route, content, names: ownedNames(route, content) }))
  .filter(({ names }) => names.length > 0)

function ownedNames(route: string, content: Content): string[] {
  return [...new Set(namesIn(route, content).filter((name) => OF_A_PROJECT.includes(name)))]
}

let world: World
beforeAll(async () => {
  world = await createWorld()
  world.set({ isPublic: false, isGated: false })
})
afterAll(() => world.close())

/** Excludes last-seen times and counters. */
const NOT_LOOKED_AT = ['site_generation', 'sessions', 'session_tokens', 'sqlite_sequence', 'sqlite_stat1']

function everything(): string {
  const { sqlite } = world.app.ctx.db
  const tables = sqlite
    .query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    .all()
    .filter(({ name }) => !NOT_LOOKED_AT.includes(name))
  const without = (name: string) => (name === 'api_keys' ? 'id, name, project_id, is_global' : '*')
  return JSON.stringify(
    tables.map(({ name }) => [name, sqlite.query(`SELECT ${without(name)} FROM ${name}`).all()]),
  )
}

const SECRET = /secret[ .]of[ .]other|mapped-other/

/** The problems: a response that is not a refusal without content, and any change. */
async function faultsOf(
  actor: ActorName,
  host: HostName,
  { route, content }: Case,
  ids: Ids,
  isFine: (status: number, text: string) => boolean,
): Promise<string[]> {
  const before = everything()
  let after = before
  const answer = await world.call(actor, host, requestOf(route, ids, content), () => {
    after = everything()
  })
  const text = await answer.text()
  return [
    ...(isFine(answer.status, text)
      ? []
      : [`${actor}, ${host} host: ${answer.status} ${text.slice(0, 300)}`]),
    ...(SECRET.test(text) ? [`${actor}, ${host} host: shows ${text.slice(0, 300)}`] : []),
    ...(after === before ? [] : [`${actor}, ${host} host: changes something`]),
  ]
}

const STRANGERS: [actor: ActorName, host: HostName][] = [
  ['owner', 'admin'],
  ['owner', 'own'],
  ['owner', 'other'],
  ['contributor', 'admin'],
  ['project key', 'admin'],
  ['project key', 'other'],
  ['plain member', 'admin'],
]

/** A refusal, or an empty list. */
const isRefusal = (status: number, text: string): boolean =>
  [400, 401, 403, 404].includes(status) || (status === 200 && /"data":\[\]/.test(text))

test.each(CASES)('$route by $names of a foreign project', async (each) => {
  const faults: string[] = []
  for (const [actor, host] of STRANGERS)
    faults.push(...(await faultsOf(actor, host, each, { ...world.ids, ...foreign(each.names) }, isRefusal)))
  expect(faults).toEqual([])
})

/** Every way to mix names from one project with names from the other. */
const MIXED = CASES.flatMap((each) => mixtures(each.names).map((mixed) => ({ ...each, mixed })))

/** Two names of the same thing are not a mixture: `owner/repo` alone, or a project with its own name. */
function mixtures(names: readonly string[]): string[][] {
  const count = 2 ** names.length
  const subsets = Array.from({ length: count }, (_, bits) => names.filter((_name, at) => bits & (1 << at)))
  return subsets.slice(1, -1)
}

test.each(MIXED)(
  '$route with $mixed of another project is not found, even for admins of both',
  async (each) => {
    const ids = { ...world.ids, ...foreign(each.mixed) }
    const isFine = (status: number) => status === 404 || status === 400
    expect(await faultsOf('global admin', 'admin', each, ids, isFine)).toEqual([])
  },
)

const foreign = (names: readonly string[]): Ids =>
  Object.fromEntries(names.map((name) => [name, world.foreignIds[name] ?? '']))

test('this test covers every kind of thing that a path can name', () => {
  const others = ['groupId', 'token', 'wrongToken', 'secretName', 'owner', ...Object.keys(world.ids)].filter(
    (name) => name.endsWith(' id'),
  )
  const ofWorkspace = ['workspaceHookId', 'workspaceDeliveryId']
  const known = new Set([
    ...OF_A_PROJECT,
    ...ofWorkspace,
    ...others,
    'groupId',
    'token',
    'wrongToken',
    'secretName',
    'previewName',
    'owner',
    // Of the project in the path, whichever that is.
    'number',
  ])
  const named = new Set(ACCESS_TABLE.flatMap(([route, , content]) => namesIn(route, content)))
  expect([...named].filter((name) => !known.has(name))).toEqual([])
})
