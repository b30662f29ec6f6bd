import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { SEED_OWNER, type Seeded, seedDeployment } from '../testing/seed.ts'
import { type TestApp, testApp } from '../testing/test-app.ts'

/** What a page of another site gets if it embeds a private site with the visitor's cookies. */
const SHA = 'a'.repeat(40)
const WHO = {
  name: 'who',
  steps: [
    {
      id: 'answer',
      handlerType: 'response_handler',
      config: { body: 'window.who = "{{user.email}}"', contentType: 'text/javascript' },
    },
  ],
}

let app: TestApp
let secret: Seeded
let open: Seeded
beforeAll(async () => {
  app = await testApp()
  const files = { 'index.html': 'page', 'app.js': 'script', 'dir/index.html': 'in it' }
  const site = { owner: 'acme', sha: SHA, alias: 'production', files }
  secret = await seedDeployment(app, { ...site, repo: 'secret', isPublic: false })
  open = await seedDeployment(app, { ...site, repo: 'open' })
  for (const { projectId } of [secret, open]) {
    const rule = { pathPattern: '/who.js', proxyType: 'pipeline', pipelineConfig: WHO }
    const made = await app.call('POST', `/api/proxy-rules/project/${projectId}`, {
      as: SEED_OWNER,
      json: rule,
    })
    expect(made.status).toBe(201)
  }
  await app.addUser('stranger@example.com')
})
afterAll(() => app.close())

const SCRIPT = { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'script' }
const OBJECT = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'object' }
const from = (site: string, what: Record<string, string>) => ({ ...what, 'sec-fetch-site': site })

async function get(place: Seeded, path: string, headers: Record<string, string>, as = SEED_OWNER) {
  const cookie = await app.cookieOf(as)
  return app.call('GET', path, { host: place.aliasHost ?? '', headers: { ...headers, cookie } })
}

describe.each([
  ['a script', SCRIPT],
  ['an object', OBJECT],
])('as %s of another page', (_name, what) => {
  test.each(['/', '/app.js', '/dir', '/nothing', '/who.js'])(
    '%s of a private site looks the same to people who may see it and to others',
    async (path) => {
      const headers = from('same-site', what)
      const asSeen: string[] = []
      for (const as of [SEED_OWNER, 'stranger@example.com']) {
        // A recent decision for the same cookies must not grant access.
        await get(secret, '/', {}, as)
        const answer = await get(secret, path, headers, as)
        asSeen.push(JSON.stringify([answer.status, Object.fromEntries(answer.headers), await answer.text()]))
      }
      const stranger = await app.call('GET', path, { host: secret.aliasHost ?? '', headers })
      asSeen.push(
        JSON.stringify([stranger.status, Object.fromEntries(stranger.headers), await stranger.text()]),
      )
      expect(stranger.status).toBe(404)
      expect(new Set(asSeen).size).toBe(1)
    },
  )

  test('a path form on the admin host is anonymous too', async () => {
    const headers = from('same-site', what)
    const path = `/repo/acme/secret/${SHA}/app.js`
    const [seen, missing] = [
      await app.call('GET', path, { as: SEED_OWNER, headers }),
      await app.call('GET', '/repo/acme/nothing/alias/production/app.js', { as: SEED_OWNER, headers }),
    ]
    expect([seen.status, await seen.text()]).toEqual([404, await missing.text()])
  })

  test('no sign-in page is shown instead', async () => {
    const json = { privateSiteResponse: 'login' }
    await app.call('PATCH', `/api/projects/${secret.projectId}`, { as: SEED_OWNER, json })
    const answer = await get(secret, '/', from('same-site', what))
    await app.call('PATCH', `/api/projects/${secret.projectId}`, {
      as: SEED_OWNER,
      json: { privateSiteResponse: null },
    })
    expect(answer.status).toBe(401)
  })

  test('a pipeline of a public site does not reveal who the visitor is', async () => {
    expect(await (await get(open, '/who.js', from('same-site', what))).text()).toBe('window.who = ""')
    expect(await (await get(open, '/who.js', from('same-origin', what))).text()).toContain(SEED_OWNER)
  })
})

test('a private site works normally for its own pages and in a frame', async () => {
  const frame = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe', 'sec-fetch-site': 'same-site' }
  for (const headers of [from('same-origin', SCRIPT), from('same-origin', OBJECT), frame])
    expect((await get(secret, '/app.js', headers)).status).toBe(200)
})

test('other sites cannot use a response of a private site’s rule, even in browsers without fetch metadata', async () => {
  const policyOf = async (place: Seeded) =>
    (await get(place, '/who.js', {})).headers.get('cross-origin-resource-policy')
  expect([await policyOf(secret), await policyOf(open)]).toEqual(['same-origin', null])
})
