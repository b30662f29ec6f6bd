import { cpSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Appliance } from '../../ui/e2e/appliance.ts'
import { addExtras, type Extras } from './extras.ts'
import { noteOf, visitOf } from './words.ts'

/** What the pages to be shown are about. */
export type Team = Extras &
  Record<'project' | 'deployment' | 'older' | 'alias' | 'rule' | 'domain' | 'visits' | 'person', string>

export const GUESTBOOK = join(import.meta.dirname, '../../examples/guestbook')
const OTHERS = [
  ['website', 'Hut website', true],
  ['trail-maps', 'Trail maps', true],
  ['bookings', 'Bookings', true],
  ['handbook', 'Warden’s handbook', false],
] as const
const PEOPLE = [
  ['grace@example.com', 'contributor'],
  ['jonas@example.com', 'admin'],
  ['ines@example.com', 'viewer'],
] as const
const RELEASES = [
  ['3f9a1c07b2d84e56', 'main', 'The book opens'],
  ['8c41e0d92a7b63f5', 'main', 'A warmer welcome'],
  ['5d07b9e3c8f1a246', 'wall-of-notes', 'Notes hang on a wall'],
  ['e26f4a90d13c7b85', 'main', 'The weather at the hut'],
] as const

/** A small club with a few sites, of which the guestbook of the examples is in full use. */
export async function fillTeam(appliance: Appliance): Promise<Team> {
  const make = async (path: string, json: unknown) => (await appliance.asAdmin('POST', path, json)).json()
  const { key } = await make('/api/api-keys', { name: 'GitHub Actions', isGlobal: true })
  const project = await createProject(appliance, 'guestbook', 'The Guestbook', true)
  for (const [name, title, isPublic] of OTHERS) {
    await createProject(appliance, name, title, isPublic)
    await release(appliance, key, name, 0)
  }
  for (const place of RELEASES.keys()) await release(appliance, key, 'guestbook', place)
  const ids = await publishedIds(appliance, project)
  const person = await invite(appliance, project)
  const domain = await map(appliance, project)
  const rule = await addRules(appliance, key, project)
  const visits = await addRecords(appliance, project)
  await make('/api/api-keys', { name: 'Ada’s laptop', projectId: project })
  const extras = await addExtras(appliance, project, visits)
  return { project, ...ids, person, domain, rule, visits, ...extras }
}

async function createProject(appliance: Appliance, name: string, displayName: string, isPublic: boolean) {
  const made = await appliance.asAdmin('POST', '/api/projects', {
    owner: 'acme',
    name,
    displayName,
    isPublic,
  })
  return String((await made.json()).id)
}

/** Publishes the site as it was then: each release changes a page, and the third one brings the wall. */
async function release(appliance: Appliance, key: string, name: string, place: number): Promise<void> {
  const [sha = '', branch = '', message = ''] = RELEASES[place] ?? []
  const site = mkdtempSync(join(tmpdir(), 'svc-shots-'))
  cpSync(GUESTBOOK, site, { recursive: true })
  // Its checks and redirects speak of the wall, which comes later.
  const later = ['wall', '_redirects', '.svc/checks.yaml']
  if (place < 2) for (const path of later) rmSync(join(site, path), { recursive: true })
  if (place < 3) renameScript(site, `weather-0${place}c41fe.js`)
  writeFileSync(
    join(site, 'about.html'),
    `${readFileSync(join(site, 'about.html'), 'utf8')}<!-- ${place} -->\n`,
  )
  const where = ['--api-url', appliance.url, '--project', `acme/${name}`, '--alias', 'production']
  const what = ['--sha', sha, '--branch', branch, '--message', message]
  await svc(appliance, key, ['deploy', site, ...where, ...what])
  if (name === 'guestbook' && place === 2)
    await svc(appliance, key, ['deploy', site, ...where.with(-1, 'staging'), ...what])
  rmSync(site, { recursive: true })
}

function renameScript(site: string, to: string): void {
  const assets = join(site, 'assets')
  const from = readdirSync(assets).find((file) => file.startsWith('weather'))
  if (from === undefined) return
  renameSync(join(assets, from), join(assets, to))
  const page = join(site, 'index.html')
  writeFileSync(page, readFileSync(page, 'utf8').replaceAll(from, to))
}

async function svc(appliance: Appliance, key: string, args: string[]): Promise<void> {
  const { exitCode, output } = await appliance.svc(args, { SVC_API_KEY: key, SVC_API_URL: appliance.url })
  if (exitCode !== 0) throw new Error(output)
}

const listOf = async (appliance: Appliance, path: string): Promise<Record<string, string>[]> =>
  (await (await appliance.asAdmin('GET', path)).json()).data

async function publishedIds(appliance: Appliance, project: string) {
  const [newest, older] = await listOf(appliance, `/api/deployments?projectId=${project}`)
  const aliases = await listOf(appliance, `/api/aliases?projectId=${project}`)
  const alias = aliases.find(({ name }) => name === 'production')
  return { deployment: newest?.['id'] ?? '', older: older?.['id'] ?? '', alias: alias?.['id'] ?? '' }
}

async function invite(appliance: Appliance, project: string): Promise<string> {
  let first = ''
  for (const [email, role] of PEOPLE) {
    const user = await (await appliance.asAdmin('POST', '/api/users', { email, role: 'user' })).json()
    await appliance.asAdmin('POST', `/api/projects/${project}/permissions/users`, { userId: user.id, role })
    first ||= user.id
  }
  const group = await (await appliance.asAdmin('POST', '/api/groups', { name: 'Wardens' })).json()
  await appliance.asAdmin('POST', `/api/groups/${group.id}/members`, { userId: first })
  await appliance.asAdmin('POST', `/api/projects/${project}/permissions/groups`, {
    groupId: group.id,
    role: 'viewer',
  })
  await appliance.asAdmin('POST', `/api/projects/${project}/invitations`, {
    email: 'petra@example.com',
    role: 'viewer',
  })
  return first
}

async function map(appliance: Appliance, projectId: string): Promise<string> {
  const json = { projectId, hostname: 'book.sites.example.com', alias: 'production' }
  const { id } = await (await appliance.asAdmin('POST', '/api/domains', json)).json()
  await appliance.asAdmin('POST', '/api/domains', { ...json, hostname: 'guestbook.example.org' })
  const weights = [
    { alias: 'production', weight: 90 },
    { alias: 'staging', weight: 10 },
  ]
  await appliance.asAdmin('PUT', `/api/domains/${id}/traffic`, { weights })
  return id
}

async function addRules(appliance: Appliance, key: string, project: string): Promise<string> {
  await svc(appliance, key, [
    ...['rules', 'push', join(GUESTBOOK, '.svc/proxy-rules/guestbook')],
    ...['--project', 'acme/guestbook', '--api-url', appliance.url],
  ])
  const made = await appliance.asAdmin('POST', `/api/proxy-rules/project/${project}`, {
    pathPattern: '/api/avalanches/*',
    methods: ['GET'],
    targetUrl: 'https://warnings.example.org/v2',
    headerConfig: { add: { authorization: 'Bearer 9f2c' }, strip: ['referer'] },
    description: 'The bulletin of the region',
  })
  await appliance.asAdmin('POST', `/api/proxy-rules/project/${project}`, {
    pathPattern: '/guestbook/*',
    proxyType: 'internal_rewrite',
    targetUrl: '/wall/',
    description: 'Where the wall was before',
  })
  await appliance.asAdmin('PUT', `/api/projects/${project}/secrets/WARNINGS_TOKEN`, { value: '9f2c' })
  return String((await made.json()).id)
}

/** Notes on the wall as the site keeps them, and a thousand visits. */
async function addRecords(appliance: Appliance, projectId: string): Promise<string> {
  const { schemas } = await (await appliance.asAdmin('GET', `/api/schemas?projectId=${projectId}`)).json()
  const notes = schemas.find(({ name }: { name: string }) => name === 'notes')
  for (let n = 0; n < 24; n++) await appliance.asAdmin('POST', `/api/schemas/${notes.id}/records`, noteOf(n))
  const fields = [
    { name: 'name', type: 'string', required: true },
    { name: 'email', type: 'email', required: true },
    { name: 'nights', type: 'integer' },
    { name: 'arrival', type: 'date' },
    { name: 'breakfast', type: 'boolean' },
  ]
  const made = await appliance.asAdmin('POST', '/api/schemas', { projectId, name: 'visits', fields })
  const { id } = await made.json()
  for (let n = 0; n < 1000; n++) await appliance.asAdmin('POST', `/api/schemas/${id}/records`, visitOf(n))
  return id
}
