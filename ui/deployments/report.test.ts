import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { RoutingView } from '../../src/modules/deployments/routing/view.ts'
import type { ReportView } from '../../src/modules/reports/model.ts'
import { seedDeployment } from '../../src/testing/seed.ts'
import { type TestApp, testApp } from '../../src/testing/test-app.ts'
import { renderPart } from '../components/html.ts'
import { ADMIN, type Browser, browserOf } from '../testing/browser.ts'
import { reportCard, reportPage, reportWords } from './report.ts'

const EVIL = '<img src=x onerror=alert(1)>"\''

const finding = (severity: 'error' | 'warning' | 'info', kind: string) => ({
  kind,
  severity,
  file: EVIL,
  line: 3,
  target: EVIL,
  message: `says ${severity}`,
})
const REPORT: ReportView = {
  deploymentId: 'd',
  status: 'complete',
  comparedWith: { alias: 'production', deploymentId: 'before', commitSha: '0123456789abcdef' },
  files: { added: 1, changed: 0, removed: 0, unchanged: 12 },
  paths: [{ kind: 'added', path: EVIL }],
  bytes: { identity: 2_000, br: 1_000, zstd: null, gzip: 1_500 },
  routing: {
    redirects: 2,
    headers: 1,
    refused: 101,
    problems: [{ file: '_redirects', line: 12, message: EVIL }],
  },
  findings: [
    finding('error', 'redirect-loop'),
    finding('warning', 'link-missing'),
    finding('info', 'left-out'),
  ],
  kinds: { 'redirect-loop': 1, 'link-missing': 250, 'left-out': 1 },
  truncated: false,
  createdAt: '2026-11-01T10:00:00.000Z',
  completedAt: '2026-11-01T10:00:05.000Z',
}

let app: TestApp
let browser: Browser
let ids = { projectId: '', deploymentId: '' }

beforeAll(async () => {
  app = await testApp()
  browser = browserOf(app)
  await app.addUser(ADMIN, 'admin')
  ids = await seedDeployment(app, {
    owner: 'acme',
    repo: 'site',
    sha: 'abcdef1',
    files: { 'index.html': 'hi' },
  })
})
afterAll(() => app.close())

const NO_ROUTING: RoutingView = { folder: '', redirects: [], headers: [], problems: [] }
const lineOf = (line: number) => ({
  line,
  source: `/old-${line}`,
  query: { id: ':id' },
  target: EVIL,
  status: 301,
  force: true,
  conditions: { Role: ['viewer', 'admin'] },
})

/** The page, with the records that a real one has. */
async function shown(report: ReportView | null, inForce = NO_ROUTING): Promise<string> {
  const record = async (path: string) => (await (await app.call('GET', path, { as: ADMIN })).json()) as never
  const props = {
    user: { id: 'u', name: 'Ann', email: 'ann@example.com', role: 'admin' } as never,
    can: {} as never,
    project: await record(`/api/projects/${ids.projectId}`),
    deployment: await record(`/api/deployments/${ids.deploymentId}`),
    report,
    inForce,
  }
  return renderPart(reportPage(props))
}

test('findings stand by severity, with how many there are besides, and nothing of a file is markup', async () => {
  const html = await shown(REPORT)
  expect(html).not.toContain('<img')
  const places = [
    'Errors',
    'says error',
    'Warnings',
    'says warning',
    'And 249 more.',
    'Good to know',
    'says info',
  ].map((text) => html.indexOf(text))
  expect(places).toEqual(places.toSorted((a, b) => a - b))
  expect(places[0]).toBeGreaterThan(0)
  for (const text of [
    '1 added',
    '0123456789ab',
    'live as production',
    '12 files are the same',
    '_redirects:12',
  ])
    expect(html).toContain(text)
  expect(html).toContain('And 100 more.')
})

test('what is in force stands as tables: a hundred lines, then the way to all', async () => {
  const html = await shown(REPORT, {
    folder: '',
    redirects: Array.from({ length: 102 }, (_, at) => lineOf(at + 1)),
    headers: [{ line: 7, path: EVIL, set: [{ name: 'x-a', value: EVIL }], unset: ['x-b'] }],
    problems: [],
  })
  expect(html).not.toContain('<img')
  for (const text of [
    '/old-100 id=:id',
    '301, forced',
    'Role=viewer,admin',
    'x-a: ',
    'without',
    'And 2 more',
  ])
    expect(html).toContain(text)
  expect(html).not.toContain('/old-101')
  expect(html).toContain(`href="/api/deployments/${ids.deploymentId}/routing"`)
  expect(await shown(REPORT)).not.toContain('in force')
})

test('while it is made the page says so and leads to itself', async () => {
  const html = await shown({ ...REPORT, status: 'running', findings: [], kinds: {}, completedAt: null })
  expect(html).toContain('role="status"')
  expect(html).toContain(`href="/projects/${ids.projectId}/deployments/1/report">Look again`)
  expect(html).not.toContain('Nothing found')
})

test.each([
  ['nothing is wrong', { findings: [], kinds: {} }, 'Nothing found'],
  ['it failed', { status: 'failed', findings: [], kinds: {} }, 'The report could not be made.'],
  ['the site is too large', { truncated: true }, 'too large to be read whole'],
] as const)('says that %s', async (_what, given, said) => {
  expect(
    await shown({
      ...REPORT,
      ...given,
      findings: [...((given as { findings?: [] }).findings ?? REPORT.findings)],
    }),
  ).toContain(said)
})

test('a deployment without a report says how to get one', async () => {
  expect(await shown(null)).toContain('Publish it again to get one.')
})

test('the card of the deployment has the counts, the refused lines and the way to the page', () => {
  const html = renderPart(reportCard('p', 12, REPORT))
  expect(reportWords(REPORT)).toBe('1 error, 250 warnings, 1 hint')
  for (const text of [
    '1 error, 250 warnings, 1 hint',
    '_redirects:12',
    'href="/projects/p/deployments/12/report"',
  ])
    expect(html).toContain(text)
  expect(html).not.toContain('<img')
})

test('the page is for people who see the project', async () => {
  const path = `/projects/${ids.projectId}/deployments/1/report`
  const own = await browser.open(path, { as: ADMIN })
  expect([own.status, await own.text()]).toEqual([200, expect.stringContaining('Deploy report')])
  await app.addUser('eve@example.com', 'member')
  expect((await browser.open(path, { as: 'eve@example.com' })).status).toBe(404)
})
