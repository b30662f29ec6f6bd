import type { Page } from '@playwright/test'
import { seriousFaults, violationsInBothThemes } from './axe.ts'
import { seedData } from './data-seed.ts'
import { seedFilePages } from './file-seed.ts'
import { type Appliance, expect, openAsAdmin, test, WITH_ADMIN } from './journey.ts'
import { seedRules } from './rules-seed.ts'

test.use({ env: { ...WITH_ADMIN, RATE_LIMIT_API: '0', PROXY_ALLOWED_TARGETS: '127.0.0.1' } })
test.setTimeout(480_000)

type Ids = Record<
  | 'project'
  | 'deployment'
  | 'alias'
  | 'preview'
  | 'user'
  | 'group'
  | 'domain'
  | 'unproven'
  | 'hook'
  | 'delivery'
  | 'schedule',
  string
> & {
  rules: string[]
  data: string[]
}

/** Creates a project with two deployments and everything else that pages show. */
async function fill(appliance: Appliance, folder: (files: Record<string, string>) => string): Promise<Ids> {
  const make = async (path: string, json: unknown) => (await appliance.asAdmin('POST', path, json)).json()
  const { id } = await make('/api/projects', { owner: 'acme', name: 'website', displayName: 'Website' })
  const { key } = await make('/api/api-keys', { name: 'ci', projectId: id })
  const logo = '<svg xmlns="http://www.w3.org/2000/svg"/>'
  for (const sha of ['aaaaaaaaaaaaaaaa', 'bbbbbbbbbbbbbbbb']) {
    const site = folder({ 'index.html': sha, 'assets/logo.svg': logo, 'a.js': CODE, ...BROKEN })
    const where = ['--api-url', appliance.url, '--project', 'acme/website', '--alias', 'production']
    await appliance.svc(['deploy', site, ...where, '--sha', sha], { SVC_API_KEY: key })
  }
  const user = await make('/api/users', { email: 'grace@example.com', role: 'user' })
  const group = await make('/api/groups', { name: 'Editors' })
  await make(`/api/groups/${group.id}/members`, { userId: user.id })
  await make(`/api/projects/${id}/permissions/users`, { userId: user.id, role: 'viewer' })
  await make(`/api/projects/${id}/permissions/groups`, { groupId: group.id, role: 'contributor' })
  await make(`/api/projects/${id}/invitations`, { email: 'new@example.com', role: 'guest' })
  await appliance.asAdmin('PUT', `/api/projects/${id}/secrets/KEY`, { value: 'x' })
  const list = async (path: string) => (await (await appliance.asAdmin('GET', path)).json()).data
  const [alias] = await list(`/api/aliases?projectId=${id}`)
  const [, older] = await list(`/api/deployments?projectId=${id}`)
  const map = async (hostname: string) =>
    (await make('/api/domains', { projectId: id, hostname, alias: 'production' })).id
  const [domain, unproven] = [await map('docs.localhost'), await map('www.nowhere.invalid')]
  const rules = [{ type: 'query', key: 'preview', value: 'yes', alias: 'production' }]
  const split = { weights: [{ alias: 'production', weight: 100 }], rules }
  await appliance.asAdmin('PUT', `/api/domains/${domain}/traffic`, split)
  const preview = await make('/api/aliases', { projectId: id, name: 'pr-12', deploymentId: older.id })
  const expiresAt = new Date(Date.now() + 86_400_000).toISOString()
  await appliance.asAdmin('PATCH', `/api/aliases/${preview.id}`, { expiresAt })
  const hooks = `/api/projects/${id}/webhooks`
  const hook = await make(hooks, { url: 'https://127.0.0.1:9/', events: ['*'], headers: { 'X-Team': 'a' } })
  const delivery = await make(`${hooks}/${hook.id}/test`, {})
  const ruleId = (await make(`/api/proxy-rules/project/${id}`, SCHEDULED)).id
  const timing = { cron: '*/15 * * * *', timezone: 'Europe/Berlin' }
  const schedule = await make(`/api/projects/${id}/schedules`, { name: 'refresh', ruleId, ...timing })
  const others = {
    schedule: schedule.id,
    preview: preview.id,
    hook: hook.id,
    delivery: delivery.id,
    user: user.id,
    group: group.id,
    domain,
    unproven,
  }
  const rulePages = await seedRules(appliance, id, alias.id)
  const data = [...(await seedData(appliance, id)), ...(await seedFilePages(appliance, id))]
  return { project: id, deployment: older.id, alias: alias.id, ...others, rules: rulePages, data }
}

/** What a deploy report finds of each severity, and routing that is in force. */
const BROKEN = {
  'broken.html': '<a href="/nowhere">x</a>',
  'node_modules/x.js': '',
  id_rsa: 'no key',
  _redirects: '/old/* /:splat\n/id id=:id /items/:id 302! Language=de,fr\n/no-target\n',
  _headers: '/*\n  X-A: b\n  ! X-Robots-Tag\n',
}

const SCHEDULED = {
  pathPattern: '/api/refresh',
  method: 'POST',
  proxyType: 'pipeline',
  pipelineConfig: { steps: [] },
}

/** Code with a word of each colour. */
const CODE = "import a from 'b' // c\nclass D { e = 1 }\n"

const ofProject = (ids: Ids): string[] => {
  const deployment = [
    '',
    '/report',
    '/files',
    '/files?path=index.html',
    '/files?path=assets/logo.svg',
    '/files?path=a.js',
  ]
  return [
    ...[
      '',
      '/publish',
      '/deployments',
      '/deployments?branch=none',
      '/compare?from=1&to=2',
      '/compare?from=1&to=production',
      '/compare/file?from=1&to=2&path=index.html&view=unified',
      '/compare/file?from=1&to=2&path=index.html&view=split',
      '/aliases',
      '/people',
      '/analytics',
      '/errors',
      '/requests',
      '/audit',
      '/secrets',
      '/webhooks',
      `/webhooks/${ids.hook}`,
      `/webhooks/${ids.hook}/deliveries/${ids.delivery}`,
      '/schedules',
      '/schedules/new',
      '/schedules/new?cron=0+6+*+*+*&timezone=Europe/Berlin',
      `/schedules/${ids.schedule}`,
      '/retention',
      '/release-checks',
      '/retention?keepLast=1',
      '/settings',
    ],
    ...deployment.map((rest) => `/deployments/${ids.deployment}${rest}`),
    `/aliases/${ids.preview}`,
    ...['', `/move?to=${ids.deployment}`].map((rest) => `/aliases/${ids.alias}${rest}`),
    `/people/${ids.user}`,
    ...['', `/${ids.domain}`, `/${ids.domain}/traffic`, `/${ids.unproven}`].map((rest) => `/domains${rest}`),
  ].map((rest) => `/projects/${ids.project}${rest}`)
}

const ofRules = (ids: Ids): string[] => ids.rules.map((rest) => `/projects/${ids.project}${rest}`)

const ofData = (ids: Ids): string[] => ids.data.map((rest) => `/projects/${ids.project}${rest}`)

const ofWorkspace = (ids: Ids): string[] => [
  ...[
    '/docs',
    '/docs?q=backup',
    '/docs/start',
    '/docs/operating',
    '/docs/cli',
    '/commands',
    '/commands?q=docs',
  ],
  ...['/', '/?q=zebra', '/projects/new', '/keys', '/welcome', '/account', '/signed-out', '/no-such-page'],
  ...[
    'users',
    'groups',
    'webhooks',
    'settings/auth',
    'audit',
    'analytics',
    'logs',
    'storage',
    'machines',
    'certificates',
    'backups',
    'health',
  ].map((rest) => `/admin/${rest}`),
  ...[`/admin/users/${ids.user}`, `/admin/groups/${ids.group}`],
]

/** Serious accessibility faults of the open page, in both themes, and what sticks out on a phone or a tablet. */
async function faultsOf(page: Page): Promise<string[]> {
  const violations = await violationsInBothThemes(page)
  const wide = page.viewportSize()
  const excesses: string[] = []
  for (const width of [390, 768]) {
    await page.setViewportSize({ width, height: 800 })
    const { excess, open } = await page.evaluate(() => ({
      excess: document.documentElement.scrollWidth - window.innerWidth,
      open: [...document.querySelectorAll('.dialog')].filter((dialog) => dialog.checkVisibility()).length,
    }))
    if (excess > 0) excesses.push(`${excess} pixels too wide for ${width}`)
    if (open > 0) excesses.push(`${open} dialogs are open at ${width}`)
  }
  if (wide !== null) await page.setViewportSize(wide)
  return [...seriousFaults(violations), ...excesses]
}

for (const [what, pagesOf] of [
  ['a project', ofProject],
  ['the rules of a project', ofRules],
  ['the data of a project', ofData],
  ['the workspace', ofWorkspace],
] as const)
  test(`the pages of ${what} are accessible`, async ({ page, appliance, folder }) => {
    await openAsAdmin(page, appliance, '/')
    await expect(page.getByRole('region', { name: 'Publish' })).toBeVisible()
    const wrong: Record<string, string[]> = {}
    const check = async (path: string) => {
      await page.goto(appliance.url + path)
      const faults = await faultsOf(page)
      if (faults.length > 0) wrong[path] = faults
    }
    if (what === 'the workspace') for (const path of ['/', '/admin/groups']) await check(path)
    const empty = await (
      await appliance.asAdmin('POST', '/api/projects', { owner: 'acme', name: 'empty' })
    ).json()
    const ids = await fill(appliance, folder)
    if (what === 'a project')
      for (const rest of [
        '',
        '/deployments',
        '/aliases',
        '/domains',
        '/rules',
        '/data',
        '/files',
        '/secrets',
      ])
        await check(`/projects/${empty.id}${rest}`)
    for (const path of pagesOf(ids)) await check(path)
    expect(wrong).toEqual({})
  })

test('the pages for signed-out visitors are accessible', async ({ page, appliance }) => {
  const make = async (path: string, json: unknown) =>
    (await appliance.asAdmin('POST', path, json)).json() as Promise<Record<string, string>>
  await appliance.asAdmin('PATCH', '/api/settings', { allowPublicSignups: true })
  const project = await make('/api/projects', { owner: 'acme', name: 'website' })
  const guest = { email: 'new@example.com', role: 'guest' }
  const invitation = await make(`/api/projects/${project['id']}/invitations`, guest)
  const { inviteUrl } = await make('/api/users', { email: 'grace@example.com' })
  const links = [invitation['url'], inviteUrl].map((link) => {
    const { pathname, search } = new URL(String(link))
    return pathname + search
  })
  const wrong: Record<string, string[]> = {}
  const forms = ['/signin', '/signup', '/forgot-password', '/reset-password?token=spent', ...links]
  for (const url of [
    ...forms.map((path) => appliance.url + path),
    `http://nothing.localhost:${appliance.port}/`,
  ]) {
    await page.goto(url)
    const faults = await faultsOf(page)
    if (faults.length > 0) wrong[url] = faults
  }
  expect(wrong).toEqual({})
})
