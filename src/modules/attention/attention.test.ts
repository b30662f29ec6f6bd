import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { DAY_MS, HOUR_MS } from '../../domain/durations.ts'
import { noCertificates } from '../../platform/certificates.ts'
import { ask } from '../../testing/ask.ts'
import { type Seeded, seedDeployment } from '../../testing/seed.ts'
import { seedKey, seedMember } from '../../testing/seed-people.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'
import { recordRun } from '../runs/service.ts'

/** Each cause comes, is shown to those who may open its page, and goes. contract 17.7. */

type Item = {
  code: string
  severity: string
  projectId: string | null
  message: string
  href: string
  at: string
}

const ROOT = 'root@example.com'
let app: TestApp
let site: Seeded
let [viewer, contributor, admin] = ['', '', '']

beforeAll(async () => {
  app = await testApp()
  await app.addUser(ROOT, 'admin')
  site = await publish({ 'index.html': 'shop' }, 'a')
  viewer = await seedMember(app, site.projectId, 'viewer')
  contributor = await seedMember(app, site.projectId, 'contributor')
  admin = await seedMember(app, site.projectId, 'admin')
})
afterAll(() => app.close())

function publish(files: Record<string, string>, digit: string, alias = 'production'): Promise<Seeded> {
  app.advance(1000)
  return seedDeployment(app, { owner: 'acme', repo: 'shop', sha: digit.repeat(40), alias, files })
}

const call = (method: string, path: string, json?: unknown) =>
  ask(app, method, path, { as: ROOT, ...(json === undefined ? {} : { json }) })

async function items(as = ROOT, projectId: string | null = site.projectId): Promise<Item[]> {
  const path = projectId === null ? '/api/attention' : `/api/projects/${projectId}/attention`
  const { status, body } = await ask(app, 'GET', path, { as })
  expect(status).toBe(200)
  return body['items'] as Item[]
}
const codes = async (as = ROOT, projectId: string | null = site.projectId) =>
  (await items(as, projectId)).map(({ code }) => code)
const itemOf = async (code: string) => (await items()).find((one) => one.code === code)

test('nothing needs attention in a good project', async () => {
  expect(await codes()).toEqual([])
})

test('errors: one item with the worst path and the number, for who may see the page', async () => {
  const fail = (path: string) =>
    app.ctx.requestLog.take({
      ...{ at: app.ctx.now(), projectId: site.projectId, method: 'GET', host: 'x.localhost', path },
      ...{ status: 502, durationMs: 1, sizeBytes: 1, referrer: null, linkedFrom: null, userAgent: 'curl' },
      ...{ address: '192.0.2.1', isPage: false, weight: 1 },
    })
  for (const path of ['/api/a', '/api/b', '/api/b']) fail(path)
  expect(await items()).toEqual([
    {
      code: 'errors',
      severity: 'error',
      projectId: site.projectId,
      message: '3 requests failed in the last 24 hours, most of them GET /api/b.',
      href: `/projects/${site.projectId}/errors`,
      at: expect.any(String),
    },
  ])
  expect(await codes(admin)).toEqual(['errors'])
  expect(await codes(contributor)).toEqual([])
  expect(await codes(viewer)).toEqual([])
  app.advance(26 * HOUR_MS)
  app.signInAgain()
  expect(await codes()).toEqual([])
})

test('domain-unverified after an hour, certificate-failing for a proven host', async () => {
  const { body } = await call('POST', '/api/domains', {
    projectId: site.projectId,
    hostname: 'shop.example.com',
    alias: 'production',
  })
  expect(await codes()).toEqual([])
  app.advance(HOUR_MS + 1)
  app.signInAgain()
  expect(await itemOf('domain-unverified')).toMatchObject({
    severity: 'warn',
    message: expect.stringContaining('shop.example.com'),
    href: `/projects/${site.projectId}/domains/${body['id']}`,
  })
  expect(await codes(viewer)).toEqual(['domain-unverified'])
  await call('DELETE', `/api/domains/${body['id']}`)
  const local = await call('POST', '/api/domains', {
    projectId: site.projectId,
    hostname: 'shop.localhost',
    alias: 'production',
  })
  const before = app.ctx.certificates
  app.ctx.certificates = {
    ...noCertificates,
    stateOf: () => ({ status: 'failed', expiresAt: null, error: 'refused' }),
  }
  expect(await itemOf('certificate-failing')).toMatchObject({
    severity: 'error',
    message: expect.stringContaining('shop.localhost'),
    href: `/projects/${site.projectId}/domains/${local.body['id']}`,
  })
  app.ctx.certificates = before
  await call('DELETE', `/api/domains/${local.body['id']}`)
  expect(await codes()).toEqual([])
})

test('no-start-page: an alias whose deployment has none', async () => {
  const bare = await publish({ 'site/index.html': 'nested' }, 'b', 'next')
  expect(await itemOf('no-start-page')).toMatchObject({
    message: expect.stringContaining('next'),
    href: `/projects/${site.projectId}/deployments/${bare.deploymentId}`,
  })
  await publish({ 'index.html': 'mended' }, 'c', 'next')
  expect(await codes()).toEqual([])
})

test('release-held: the newest publish for an alias did not move it', async () => {
  await call('PUT', `/api/projects/${site.projectId}/release-checks`, { startPage: true })
  const upload = async (path: string, digit: string, more: Record<string, string> = {}) => {
    app.advance(1000)
    const form = new FormData()
    const fields = { repository: 'acme/shop', commitSha: digit.repeat(40), alias: 'production', ...more }
    for (const [name, value] of Object.entries(fields)) form.append(name, value)
    form.append('files', new Blob(['page']), path)
    const answer = await app.call('POST', '/api/deployments', { as: ROOT, body: form })
    return ((await answer.json()) as { deployment: { id: string } }).deployment.id
  }
  const heldId = await upload('about.html', 'd')
  expect(await itemOf('release-held')).toMatchObject({
    severity: 'error',
    message: expect.stringMatching(
      /^The newest deployment for production, #\d+, .* its checks held it back\.$/,
    ),
    href: `/projects/${site.projectId}/deployments/${heldId}`,
  })
  await upload('index.html', 'e')
  expect(await codes()).toEqual([])
  await call('DELETE', `/api/projects/${site.projectId}/release-checks`)
  await upload('dist/index.html', 'f', { ask: 'true' })
  const question = expect.stringContaining('it has no start page at its top')
  expect(await itemOf('release-held')).toMatchObject({ message: question })
  await upload('index.html', '0')
  expect(await codes()).toEqual([])
})

describe('rules', () => {
  const pipeline = (text: string) => ({
    steps: [{ name: 'answer', handlerType: 'response', config: { body: text } }],
  })
  const addRule = async (rule: Record<string, unknown>): Promise<string> => {
    const { status, body } = await call('POST', `/api/proxy-rules/project/${site.projectId}`, rule)
    expect(status).toBe(201)
    return String(body['id'])
  }

  test('rule-failing after three failed runs in a row, until one goes well', async () => {
    const ruleId = await addRule({
      proxyType: 'pipeline',
      pathPattern: '/api/contact',
      pipelineConfig: pipeline('x'),
    })
    const run = (status: number) => {
      app.advance(1000)
      recordRun(app.ctx, {
        ...{ projectId: site.projectId, ruleId, ruleName: null, phase: 'steps', pathPattern: '/api/contact' },
        ...{ method: 'POST', path: '/api/contact', status, durationMs: 1, failedStep: 'store', error: 'x' },
        ...{ steps: null, startedAt: app.ctx.now() },
      })
    }
    for (const status of [500, 500, 400, 503, 500]) run(status)
    expect(await codes()).toEqual([])
    run(502)
    expect(await itemOf('rule-failing')).toMatchObject({
      severity: 'error',
      message: expect.stringContaining('/api/contact'),
      href: expect.stringMatching(new RegExp(`^/projects/${site.projectId}/rules/runs/[0-9a-f-]+$`)),
    })
    run(200)
    expect(await codes()).toEqual([])
    for (const status of [500, 500, 500]) run(status)
    await call('DELETE', `/api/proxy-rules/${ruleId}`)
    expect(await codes()).toEqual([])
  })

  test('secret-missing: a secret or the value of a header that is not set', async () => {
    const ruleId = await addRule({
      proxyType: 'pipeline',
      pathPattern: '/api/mail',
      pipelineConfig: pipeline('{{secrets.MAIL_KEY}}'),
    })
    expect(await itemOf('secret-missing')).toMatchObject({
      severity: 'warn',
      message: expect.stringContaining('/api/mail'),
      href: `/projects/${site.projectId}/rules/${ruleId}`,
    })
    expect((await itemOf('secret-missing'))?.message).toContain('MAIL_KEY')
    await call('PUT', `/api/projects/${site.projectId}/secrets/MAIL_KEY`, { value: 'k' })
    expect(await codes()).toEqual([])
    await call('DELETE', `/api/proxy-rules/${ruleId}`)
  })
})

describe('the workspace', () => {
  test('its causes are for its admins alone, and of no project', async () => {
    app.advance(3 * DAY_MS)
    app.signInAgain()
    const mine = await items(ROOT, null)
    expect(mine.map(({ code, projectId, href }) => ({ code, projectId, href }))).toContainEqual({
      code: 'backup-none',
      projectId: null,
      href: '/admin/backups',
    })
    expect(await codes(admin, null)).toEqual([])
    expect(await codes(ROOT)).not.toContain('backup-none')
  })

  test('key-suspended', async () => {
    await app.addUser('leaver@example.com', 'admin')
    await ask(app, 'POST', '/api/api-keys', {
      as: 'leaver@example.com',
      json: { name: 'ci', isGlobal: true },
    })
    app.ctx.db.sqlite.run(
      `UPDATE api_keys SET suspended_at = ${app.ctx.now()}, suspended_reason = 'maker_demoted' WHERE name = 'ci'`,
    )
    expect(await codes(ROOT, null)).toContain('key-suspended')
    expect(await codes(admin, null)).not.toContain('key-suspended')
  })

  test('errors come before warnings, and the newest first', async () => {
    const all = await items(ROOT, null)
    const rank = ({ severity, at }: Item) => `${severity === 'error' ? 1 : 0} ${at}`
    expect(all.map(rank)).toEqual(all.map(rank).sort().reverse())
  })
})

describe('abuse', () => {
  test('a key and a person see the items of their projects only', async () => {
    const other = await seedDeployment(app, {
      ...{ owner: 'other', repo: 'secret', sha: 'f'.repeat(40), alias: 'production' },
      files: { 'hidden.html': 'no start page' },
    })
    const ofOther = async (as: string) =>
      (await items(as, null)).some(({ projectId }) => projectId === other.projectId)
    expect(await ofOther(ROOT)).toBe(true)
    expect(await ofOther(viewer)).toBe(false)
    const guest = await seedMember(app, other.projectId, 'guest')
    expect(await ofOther(guest)).toBe(false)
    const answer = await app.call('GET', '/api/attention', { key: seedKey(app, site.projectId) })
    expect(await answer.json()).toEqual({ items: [] })
  })
})
