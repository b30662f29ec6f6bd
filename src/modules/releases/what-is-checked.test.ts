import { beforeEach, describe, expect, test } from 'bun:test'
import { SEED_OWNER } from '../../testing/seed.ts'
import { releaseCounts } from './counts.ts'
import { type Fields, type Files, upload, withWebSite } from './releases.fixture.ts'

/** Which checks run, on what, and what they see. contract 13 §8. */
const site = withWebSite({ 'a.html': 'a' })
const { call, nextSha } = site
beforeEach(() => call('DELETE', checksPath()))

const checksPath = () => `/api/projects/${site.seeded.projectId}/release-checks`
const publish = (files: Files, fields: Fields = {}) =>
  upload(site.app, files, { commitSha: nextSha(), alias: site.alias, ...fields })
const SITE: Files = { 'index.html': 'home', '404.html': 'nothing' }
const withChecks = (checks: string): Files => ({ '.svc/checks.yaml': `startPage: false\nchecks:\n${checks}` })

/** What the checks saw of a release: `ok` and the message of each. */
async function seen(files: Files, fields: Fields = {}) {
  const { body } = await publish(files, fields)
  return (body.release?.checks ?? []).map(({ ok, message }) => [ok, message])
}

test('the setting of a project: unset, set, removed', async () => {
  const unset = { aliases: null, startPage: false, checks: [] }
  expect((await call('GET', checksPath())).body).toEqual(unset)
  const set = await call('PUT', checksPath(), { checks: [{ path: '/imprint' }] })
  const check = { name: null, path: '/imprint', status: 200, contains: null, maxBytes: null }
  expect([set.status, set.body]).toEqual([200, { aliases: null, startPage: true, checks: [check] }])
  expect((await call('GET', checksPath())).body).toEqual(set.body)
  expect((await call('PUT', checksPath(), { checks: [{ path: 'x' }] })).status).toBe(400)
  const many = Array.from({ length: 51 }, () => ({ path: '/' }))
  expect((await call('PUT', checksPath(), { checks: many })).status).toBe(400)
  expect((await call('GET', checksPath())).body).toEqual(set.body)
  expect((await call('DELETE', checksPath())).status).toBe(204)
  expect((await call('GET', checksPath())).body).toEqual(unset)
})

test('a start page that was there must stay; one that never was is not missed', async () => {
  await call('PUT', checksPath(), {})
  const first = await publish({ 'a.html': 'a', '404.html': 'x' })
  expect(first.body.release).toMatchObject({ status: 'moved' })
  expect((await publish(SITE)).body.release).toEqual({ status: 'passed', alias: site.alias, checks: [] })
  const lost = await publish({ 'dist/index.html': 'home' })
  expect(lost.body.release).toEqual({
    status: 'failed',
    alias: site.alias,
    checks: [{ name: 'start page', path: '/', ok: false, message: 'the answer is 404, not 200' }],
  })
})

test('the checks of the project and of the file both run: a file cannot weaken', async () => {
  await call('PUT', checksPath(), {
    aliases: [site.alias.toUpperCase()],
    checks: [{ name: 'p', path: '/p.html' }],
  })
  await publish({ ...SITE, 'p.html': 'p' })
  const { body } = await publish({
    ...SITE,
    '.svc/checks.yaml': 'aliases: null\nstartPage: false\nchecks: [{ name: f, path: /f.html }]',
  })
  expect(body.release?.checks.map(({ name, ok }) => [name, ok])).toEqual([
    ['start page', true],
    ['p', false],
    ['f', false],
  ])
  const other = await publish({ ...SITE }, { alias: `${site.alias}-other` })
  expect(other.body.release).toMatchObject({ status: 'moved' })
})

test('the checks file of the base path wins; one of another folder is none', async () => {
  const files = {
    'dist/index.html': 'home',
    'dist/.svc/checks.yaml': 'checks: [{ name: inner, path: / }]',
    '.svc/checks.yaml': 'checks: [{ name: outer, path: / }]',
    'more/.svc/checks.yaml': 'no: checks',
  }
  const inner = await publish(files, { basePath: 'dist' })
  expect(inner.body.release?.checks.map(({ name }) => name)).toEqual(['inner'])
  const outer = await publish(files)
  const names = outer.body.release?.checks.map(({ name }) => name)
  expect([outer.body.release?.status, names]).toEqual(['failed', ['start page', 'outer']])
})

test('the answer itself counts: redirects, clean addresses, lines, 404 pages', async () => {
  const files = {
    ...SITE,
    'docs/index.html': 'docs',
    _redirects: '/old /new\n/shop/* /docs/index.html 200\n/gone 410\n',
    ...withChecks(
      [
        '  - { path: /docs, status: 308 }',
        '  - { path: /docs }',
        '  - { path: "/old?a=1", status: 301 }',
        '  - { path: /shop/x, contains: docs }',
        '  - { path: /gone, status: 410 }',
        '  - { path: /no, status: 404, contains: nothing }',
      ].join('\n'),
    ),
  }
  expect(await seen(files)).toEqual([
    [true, null],
    [false, 'the answer is 308 to /docs/, not 200'],
    [true, null],
    [true, null],
    [true, null],
    [true, null],
  ])
})

test('what others answer is not run, and stops nothing', async () => {
  const rules = `/api/proxy-rules/project/${site.seeded.projectId}`
  const target = 'https://backend.example/'
  const rule = await call('POST', rules, {
    pathPattern: '/backend/*',
    targetUrl: target,
    proxyType: 'external_proxy',
  })
  expect(rule.status).toBe(201)
  const { body } = await publish({
    ...SITE,
    _redirects: '/proxied/* https://backend.example/:splat 200\n',
    ...withChecks(
      '  - { path: /_svc/auth/session }\n  - { path: /api/projects }\n  - { path: /proxied/x }\n  - { path: /backend/x }\n',
    ),
  })
  expect(body.release?.status).toBe('passed')
  expect(body.release?.checks.map(({ ok, message }) => [ok, message])).toEqual([
    [null, 'not run: the service answers this path itself'],
    [null, 'not run: the service answers this path itself'],
    [null, 'not run: a backend answers this path'],
    [null, 'not run: a backend answers this path'],
  ])
  await call('DELETE', `/api/proxy-rules/${(rule.body as { id: string }).id}`)
})

test('rewrite and redirect rules are run, pipelines are not', async () => {
  const rule = async (pathPattern: string, more: object) => {
    const { status, body } = await call('POST', `/api/proxy-rules/project/${site.seeded.projectId}`, {
      pathPattern,
      ...more,
    })
    expect([pathPattern, status]).toEqual([pathPattern, 201])
    return (body as { id: string }).id
  }
  const step = { handlerType: 'response_handler', name: 'answer', config: { body: 'x' } }
  const ids = [
    await rule('/inner', { proxyType: 'internal_rewrite', targetUrl: '/inside.html' }),
    await rule('/moved', { proxyType: 'redirect', targetUrl: '/', status: 302 }),
    await rule('/pipe', { proxyType: 'pipeline', pipelineConfig: { steps: [step] } }),
  ]
  const checks = [
    '  - { path: /inner, contains: inside }',
    '  - { path: /inner, contains: outside }',
    '  - { path: /moved, status: 302 }',
    '  - { path: /pipe, contains: never looked for }',
  ]
  expect(await seen({ ...SITE, 'inside.html': 'inside', ...withChecks(`${checks.join('\n')}\n`) })).toEqual([
    [true, null],
    [false, 'the body does not contain "outside"'],
    [true, null],
    [null, expect.stringContaining('not run')],
  ])
  for (const id of ids) await call('DELETE', `/api/proxy-rules/${id}`)
})

test('hashed files of an earlier deployment do not count', async () => {
  const hashed = 'app-0a1b2c3d.js'
  await publish({ ...SITE, [hashed]: 'x' })
  const next = { ...SITE, 'index.html': 'next' }
  expect(await seen({ ...next, ...withChecks(`  - { path: /${hashed} }`) })).toEqual([
    [false, 'the answer is 404, not 200'],
  ])
  await publish(next)
  const host = `${site.alias}--web--acme.localhost`
  expect((await site.app.call('GET', `/${hashed}`, { host, as: SEED_OWNER })).status).toBe(200)
})

test('contains and maxBytes look at the unencoded body, of any size', async () => {
  const packed = Buffer.from(Bun.gzipSync(Buffer.from('<svg>ünpacked</svg>')))
  const large = `${'é'.repeat(3_000_000)}<the end>`
  const form: Record<string, string | Uint8Array<ArrayBuffer>> = {
    'large.txt': large,
    'a.svgz': Uint8Array.from(packed),
  }
  const checks = withChecks(
    [
      '  - { path: /large.txt, contains: é<the end>, maxBytes: 6000009 }',
      '  - { path: /large.txt, maxBytes: 6000008 }',
      '  - { path: /large.txt, contains: nowhere }',
      '  - { path: /a.svgz, contains: <svg>ünpacked, maxBytes: 20 }',
      '  - { path: /a.svgz, maxBytes: 19 }',
    ].join('\n'),
  )
  expect(await seen({ ...SITE, ...(form as Files), ...checks })).toEqual([
    [true, null],
    [false, 'the body is larger than 6000008 bytes'],
    [false, 'the body does not contain "nowhere"'],
    [true, null],
    [false, 'the body is larger than 19 bytes'],
  ])
})

describe('a hostile checks file is refused with its place', () => {
  const bomb = ['a: &a [x, x, x, x, x, x, x, x, x]']
  for (let i = 1; i < 12; i += 1) {
    const [name, last] = [String.fromCharCode(97 + i), String.fromCharCode(96 + i)]
    bomb.push(
      `${name}: &${name} [*${last}, *${last}, *${last}, *${last}, *${last}, *${last}, *${last}, *${last}]`,
    )
  }
  test.each([
    ['a bomb of aliases', bomb.join('\n')],
    ['1 MiB of checks', `checks:\n${'  - { path: / }\n'.repeat(70_000)}`],
    ['51 checks', `checks:\n${'  - { path: / }\n'.repeat(51)}`],
    ['deep brackets', `checks: ${'['.repeat(100_000)}`],
    ['no YAML', 'checks: [\n'],
    ['a list', '- a\n- b\n'],
    ['a long text', `checks: [{ path: /, contains: ${'x'.repeat(2_001)} }]`],
    ['UTF-16', '\ufeffc\0h\0'],
    ['a path of another make', 'checks: [{ path: //evil.example/ }, { path: "https://evil.example/" }]'],
    ['a tag', 'checks: !!js/function "x"'],
  ])('%s', async (_what, text) => {
    const answer = await publish({ ...SITE, '.svc/checks.yaml': text })
    expect([answer.status, answer.body.error]).toEqual([400, 'CHECKS_INVALID'])
    expect(answer.body.message).toMatch(/^\.svc\/checks\.yaml:\d+:\d+ /)
    expect(answer.body.message?.length).toBeLessThan(20_000)
  })
})

test('the metrics count how releases ended', async () => {
  const before = releaseCounts(site.app.ctx).failed
  await publish({ ...SITE, ...withChecks('  - { path: /no }') })
  expect(releaseCounts(site.app.ctx).failed).toBe(before + 1)
  const text = await (await site.app.call('GET', '/metrics')).text()
  expect(text).toContain(`svc_releases_total{result="failed"} ${before + 1}\n`)
})
