import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { ownAddresses } from '../../src/platform/own-addresses.ts'
import { ask } from '../../src/testing/ask.ts'
import { type Seeded, seedDeployment } from '../../src/testing/seed.ts'
import { seedMember } from '../../src/testing/seed-people.ts'
import { type TestApp, testApp } from '../../src/testing/test-app.ts'
import { ADMIN, type Browser, browserOf, redirectOf } from '../testing/browser.ts'

const txt = new Map<string, string[]>()
let app: TestApp
let browser: Browser
let site: Seeded
let place: string
let projectAdmin: string
let contributor: string
let viewer: string

beforeAll(async () => {
  app = await testApp(
    { BASE_DOMAIN: 'sites.test', ADMIN_HOST: 'localhost' },
    { resolveTxt: async (name) => txt.get(name) ?? [] },
  )
  browser = browserOf(app)
  await app.addUser(ADMIN, 'admin')
  for (const [index, alias] of ['next', 'beta', 'production'].entries())
    site = await seedDeployment(app, {
      owner: 'acme',
      repo: 'website',
      sha: String(index + 1).repeat(40),
      alias,
      files: { 'index.html': alias },
    })
  place = `/projects/${site.projectId}/domains`
  projectAdmin = await seedMember(app, site.projectId, 'admin')
  contributor = await seedMember(app, site.projectId, 'contributor')
  viewer = await seedMember(app, site.projectId, 'viewer')
})
afterAll(() => app.close())

async function read(path: string, as = projectAdmin): Promise<string> {
  const answer = await browser.open(path, { as })
  expect(answer.status).toBe(200)
  return answer.text()
}

/** Sends a form. Returns the status and the resulting page, after the redirect if there is one. */
async function send(path: string, fields: Record<string, string>, as = projectAdmin) {
  const answer = await browser.submit(path, fields, { as })
  const [status, location] = redirectOf(answer)
  const to = String(location)
  return status === 303
    ? { to, html: await read(to.replace(/#.*/, ''), as) }
    : { status, html: await answer.text() }
}

/** Adds a domain and returns its id. */
async function add(hostname: string, alias = 'production'): Promise<string> {
  const json = { projectId: site.projectId, hostname, alias }
  return String((await ask(app, 'POST', '/api/domains', { as: ADMIN, json })).body['id'])
}

const textAt = async (host: string, path = '/') => (await app.call('GET', path, { host })).text()
const audited = async (): Promise<string> =>
  (await (await app.call('GET', '/api/audit?limit=1', { as: ADMIN })).json()).data[0].action

describe('domains', () => {
  test('one below the base domain is added and serves immediately', async () => {
    expect(await read(place)).toContain('No domains yet')
    const made = await send(place, { intent: 'create', hostname: 'Docs.sites.test', alias: 'production' })
    expect(made.to).toMatch(/\/domains\/[0-9a-f-]{36}\?done=created$/)
    expect(made.html).toContain('Not needed: the name belongs to this workspace')
    expect(await textAt('docs.sites.test')).toBe('production')
    expect(await read(place)).toContain('Serves')
  })

  const pasted: [address: string, host: string][] = [
    ['https://pasted.sites.test/', 'pasted.sites.test'],
    [' HTTP://Plain.sites.test', 'plain.sites.test'],
    ['slash.sites.test/', 'slash.sites.test'],
  ]
  test.each(pasted)('%p may be pasted as it is', async (address, host) => {
    const made = await send(place, { intent: 'create', hostname: address, alias: 'production' })
    expect(made.html).toContain('The domain was added.')
    expect(await textAt(host)).toBe('production')
  })

  test('the API takes a host, not an address', async () => {
    const json = { projectId: site.projectId, hostname: 'https://api.sites.test/', alias: 'production' }
    expect((await ask(app, 'POST', '/api/domains', { as: ADMIN, json })).status).toBe(400)
  })

  const refusals: [fields: Record<string, string>, status: number, expected: string][] = [
    [{ hostname: 'https://x.example/a' }, 400, 'A host name without scheme, port and path'],
    [{ hostname: 'docs.sites.test' }, 409, 'docs.sites.test already belongs to a site'],
    [{ hostname: 'a--b.sites.test' }, 409, 'one name without --'],
    [{ hostname: 'x.sites.test', pathPrefix: '/../up' }, 400, 'id="pathPrefix-error">A folder of the'],
    [{ hostname: 'x.sites.test', redirectTo: 'x.sites.test' }, 400, 'A domain cannot redirect to itself'],
    [{ hostname: 'x.sites.test', alias: 'nothing' }, 404, 'The project has no alias &quot;nothing&quot;'],
  ]
  test.each(refusals)('%p is refused in place', async (fields, status, expected) => {
    const refused = await send(place, { intent: 'create', alias: 'production', ...fields })
    expect([refused.status, refused.html.includes(expected)]).toEqual([status, true])
    expect(refused.html).toContain(`value="${fields['hostname']}"`)
  })

  test('an unverified one shows what to do and why the last check failed, then that it is verified', async () => {
    const path = `${place}/${await add('www.example.com')}`
    const fresh = await read(path)
    expect(fresh).toContain('<code>_svc-challenge.www.example.com</code>')
    expect(fresh).toContain('Not checked yet.')
    expect(fresh).not.toContain('Trust this domain')

    const looked = await send(path, { intent: 'verify' })
    expect(looked.to).toBe(`${path}#proof`)
    expect(looked.html).toContain('_svc-challenge.www.example.com has no TXT record')
    expect(looked.html).toContain('datetime="2026-11-20T12:00:00.000Z"')
    expect(await read(path, viewer)).toContain('has no TXT record')

    const [, value = ''] = /Value of the TXT record.*?<code>([^<]+)</s.exec(fresh) ?? []
    txt.set('_svc-challenge.www.example.com', [value])
    const proven = await send(path, { intent: 'verify' })
    expect(proven.html).toContain('The domain is verified and now serves.')
    expect(proven.html).toContain('The TXT record was found')
    expect(await textAt('www.example.com')).toBe('production')
  })

  test('only an administrator of the workspace may trust one without verification', async () => {
    const path = `${place}/${await add('www.example.org')}`
    expect((await send(path, { intent: 'trust' })).status).toBe(403)
    expect(await read(path, ADMIN)).toContain('Trust this domain')
    expect((await send(path, { intent: 'trust' }, ADMIN)).html).toContain(
      'The domain is verified and now serves.',
    )
  })

  test('says who holds the certificate and where the DNS must point', async () => {
    const html = await read(`${place}/${await add('www.example.net')}`)
    expect(html).toContain('gets no certificate for this host')
    expect(html).toContain('docs/operating.md')
    expect(html).toContain('with the address of this server')
  })

  test('names the address for the record, which stands before what visitors see', async () => {
    const html = await read(`${place}/${await add('record.example.net')}`)
    for (const address of await ownAddresses(app.ctx.config)) {
      const kind = address.includes(':') ? 'AAAA' : 'A'
      expect(html).toMatch(new RegExp(`Value of the ${kind} record.*?<code>${address}</code>`, 's'))
    }
    const places = ['Name of the TXT record', 'id="way"', 'id="facts"'].map((text) => html.indexOf(text))
    expect([...places].sort((a, b) => a - b)).toEqual(places)
    expect(places).not.toContain(-1)
  })

  test('asks for no certificate and no record for localhost', async () => {
    const local = await testApp()
    await local.addUser(ADMIN, 'admin')
    const seeded = await seedDeployment(local, {
      owner: 'acme',
      repo: 'website',
      sha: '1'.repeat(40),
      alias: 'production',
      files: { 'index.html': 'home' },
    })
    const json = { projectId: seeded.projectId, hostname: 'docs.localhost', alias: 'production' }
    const { body } = await ask(local, 'POST', '/api/domains', { as: ADMIN, json })
    const page = `/projects/${seeded.projectId}/domains/${body['id']}`
    const html = await (await browserOf(local).open(page, { as: ADMIN })).text()
    expect(html).toContain('No record is needed')
    expect(html).toContain('It needs none')
    expect(html).not.toMatch(/renew the\s+certificate|gets no certificate|TLS=auto/)
    local.close()
  })

  test('says that only the record counts while another project claims the domain, and who lost', async () => {
    const other = await seedDeployment(app, {
      owner: 'acme',
      repo: 'shop',
      sha: '9'.repeat(40),
      alias: 'production',
      files: { 'index.html': 'shop' },
    })
    const id = await add('both.example.net')
    expect(await read(`${place}/${id}`)).toContain('Or a response from the host itself')
    const json = { projectId: other.projectId, hostname: 'both.example.net', alias: 'production' }
    const { body } = await ask(app, 'POST', '/api/domains', { as: ADMIN, json })
    const contested = await read(`${place}/${id}`)
    expect(contested).toContain('Another project claims this domain too')
    expect(contested).not.toContain('Or a response from the host itself')
    await ask(app, 'POST', `/api/domains/${body['id']}/verify`, { as: ADMIN, json: { verified: true } })
    expect(await read(`${place}/${id}`)).toContain(
      'Another project has proven that both.example.net is its own',
    )
    const tried = await send(`${place}/${id}`, { intent: 'verify' })
    expect([tried.status, tried.html.includes('Another project has proven')]).toEqual([409, true])
  })

  test('its settings are changed, and empty ones are inherited', async () => {
    const path = `${place}/${await add('set.sites.test')}`
    const fields = { intent: 'settings', alias: 'next', pathPrefix: '', redirectTo: '' }
    const saved = await send(path, { ...fields, isPublic: 'false', requiredRole: 'viewer', isSpa: 'true' })
    expect(saved.html).toContain('Private, Viewer or higher')
    const handedOn = /href="\/signin\?redirect=http%3A%2F%2Fset\.sites\.test[^"]*"[^>]*>\s*Visit/
    expect(saved.html).toMatch(handedOn)
    expect((await app.call('GET', '/', { host: 'set.sites.test' })).status).toBe(404)
    await send(path, { ...fields, isPublic: '', requiredRole: '', isSpa: '' })
    expect(await textAt('set.sites.test')).toBe('next')
    expect(await read(path)).not.toMatch(handedOn)
    await send(path, { ...fields, isPublic: 'false', redirectTo: 'docs.sites.test' })
    expect(await read(path)).not.toMatch(handedOn)
    expect((await app.call('GET', '/', { host: 'set.sites.test' })).status).toBe(308)
    expect(await read(place)).toContain('Redirects')
  })

  test('one that lost its alias says so, and is removed', async () => {
    const path = `${place}/${await add('lost.sites.test', 'beta')}`
    app.ctx.db.sqlite.run("UPDATE domains SET alias = 'gone' WHERE hostname = 'lost.sites.test'")
    expect(await read(path)).toContain('The project no longer has the alias gone.')
    expect((await send(path, { intent: 'delete' })).html).toContain('The domain was removed.')
    expect((await browser.open(path, { as: projectAdmin })).status).toBe(404)
    expect(await audited()).toBe('domain.delete')
  })
})

describe('traffic', () => {
  const HOST = 'split.sites.test'
  let path: string
  let split: () => Promise<Record<string, unknown>>
  beforeAll(async () => {
    const id = await add(HOST)
    path = `${place}/${id}/traffic`
    split = async () => (await ask(app, 'GET', `/api/domains/${id}/traffic`, { as: ADMIN })).body
  })

  const shares = (fields: Record<string, string>) => ({
    ...{ intent: 'weights', 'alias-0': 'production', 'alias-1': 'next', 'alias-2': 'beta' },
    ...{ 'weight-0': '', 'weight-1': '', 'weight-2': '', sticky: 'true', stickySeconds: '3600' },
    ...fields,
  })

  const refusals: [fields: Record<string, string>, status: number, expected: string][] = [
    [{ 'weight-0': '70', 'weight-1': '20' }, 400, 'The weights add up to 90; they must add up to 100'],
    [{ 'weight-0': '70', 'weight-1': '30.5' }, 400, 'id="weight-1-error">Enter a whole number from 0 to 100'],
    [{ 'weight-0': '101' }, 400, 'id="weight-0-error">Enter a whole number from 0 to 100'],
    [{}, 400, '1 to 20 aliases with their weights'],
    [{ 'weight-0': '100', stickySeconds: 'long' }, 400, 'Seconds: a whole number'],
    [{ 'alias-0': 'nothing', 'weight-0': '100' }, 404, 'The project has no alias &quot;nothing&quot;'],
  ]
  test.each(refusals)('shares such as %p are refused, and shown again', async (fields, status, expected) => {
    const refused = await send(path, shares(fields), contributor)
    expect([refused.status, refused.html.includes(expected)]).toEqual([status, true])
    for (const [name, value] of Object.entries(fields).filter(([key]) => key.startsWith('weight')))
      expect(refused.html).toMatch(new RegExp(`name="${name}"[^>]* value="${value}"`))
    expect(await split()).toMatchObject({ statusCode: 404 })
  })

  test('shares keep working when the alias of the domain is gone, and the page says so', async () => {
    const hostname = 'halflost.sites.test'
    const at = `${place}/${await add(hostname)}`
    await send(`${at}/traffic`, shares({ 'weight-1': '100' }), contributor)
    app.ctx.db.sqlite.run("UPDATE domains SET alias = 'gone' WHERE hostname = ?", [hostname])
    app.ctx.db.writes += 1
    const page = await read(at)
    expect(page).toContain(
      'The project no longer has the alias gone. Visitors see what the traffic split shows them',
    )
    expect(page).toContain('Serves')
    expect(page).not.toContain('Alias is missing')
    expect(await textAt(hostname)).toBe('next')
    await send(at, { intent: 'delete' })
  })

  test('shares are saved, an empty one is removed, and another alias is added', async () => {
    expect((await send(path, shares({ 'weight-0': '75', 'weight-1': '25' }), contributor)).html).toContain(
      'Saved. It applies from the next request on.',
    )
    expect(await split()).toEqual({
      weights: [
        { alias: 'production', weight: 75 },
        { alias: 'next', weight: 25 },
      ],
      sticky: true,
      stickySeconds: 3600,
      rules: [],
    })
    expect(await audited()).toBe('traffic.set')
    const page = await read(path, contributor)
    expect(page).toContain('<option value="beta">beta</option>')
    const { sticky: _, ...joined } = shares({ 'weight-0': '50', 'weight-1': '30', 'weight-2': '20' })
    await send(path, joined, contributor)
    expect(await split()).toMatchObject({ sticky: false, weights: { length: 3 } })
    expect(await read(place)).toContain('50\u00a0%\u00a0production, 30\u00a0%\u00a0next, 20\u00a0%\u00a0beta')
    expect(await read(path, viewer)).toContain('50 %')
  })

  const rule = (key: string, alias = 'next') => ({ type: 'query' as const, key, value: 'yes', alias })
  const about = (at: number, was: unknown) => ({ at: String(at), was: JSON.stringify(was) })
  const keys = async () => ((await split())['rules'] as { key: string }[]).map(({ key }) => key)

  test('rules are added, ordered, changed and deleted, and the shares stay', async () => {
    for (const key of ['a', 'b', 'c'])
      expect((await send(path, { intent: 'add-rule', ...rule(key) }, contributor)).html).toContain(
        'The rule was added.',
      )
    expect(await textAt(HOST, '/?b=yes')).toBe('next')
    await send(path, { intent: 'rule-up', ...about(2, rule('c')) })
    expect(await keys()).toEqual(['a', 'c', 'b'])
    await send(path, { intent: 'rule-down', ...about(0, rule('a')) })
    expect(await keys()).toEqual(['c', 'a', 'b'])
    await send(path, { intent: 'rule-up', ...about(0, rule('c')) })
    expect(await keys()).toEqual(['c', 'a', 'b'])
    await send(path, { intent: 'change-rule', ...about(1, rule('a')), ...rule('z', 'beta') })
    expect(await keys()).toEqual(['c', 'z', 'b'])
    expect(await textAt(HOST, '/?z=yes')).toBe('beta')
    await send(path, { intent: 'delete-rule', ...about(0, rule('c')) })
    expect(await split()).toMatchObject({
      rules: [rule('z', 'beta'), rule('b')],
      weights: [{ weight: 50 }, { weight: 30 }, { weight: 20 }],
    })
  })

  test('a rule that somebody else changed is not overwritten', async () => {
    for (const intent of ['rule-down', 'delete-rule', 'change-rule']) {
      const refused = await send(path, { intent, ...about(0, rule('a')), ...rule('x') })
      expect([intent, refused.status]).toEqual([intent, 409])
      expect(refused.html).toContain('Somebody changed the rules in the meantime.')
    }
    expect(await keys()).toEqual(['z', 'b'])
  })

  const wrongRules: [fields: Record<string, string>, expected: string][] = [
    [{ key: 'a b' }, 'id="key-error">The name of a parameter, cookie or header'],
    [{ type: 'method' }, 'id="type-error">One of query, cookie, header'],
    [{ value: 'x'.repeat(501) }, 'id="value-error">At most 500 characters'],
  ]
  test.each(wrongRules)('a rule such as %j is refused in place', async (fields, expected) => {
    const refused = await send(path, { intent: 'add-rule', ...rule('k'), ...fields })
    expect([refused.status, refused.html.includes(expected)]).toEqual([400, true])
  })

  test('without a split everybody sees the alias of the domain, and a first rule changes nothing else', async () => {
    expect((await send(path, { intent: 'stop' }, contributor)).html).toContain(
      'All visitors see the same alias again.',
    )
    expect(await textAt(HOST, '/?z=yes')).toBe('production')
    await send(path, { intent: 'add-rule', ...rule('only') }, contributor)
    expect(await split()).toMatchObject({ weights: [{ alias: 'production', weight: 100 }] })
    expect([await textAt(HOST), await textAt(HOST, '/?only=yes')]).toEqual(['production', 'next'])
  })
})
