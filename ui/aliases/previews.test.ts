import { afterAll, beforeAll, expect, test } from 'bun:test'
import { DAY_MS } from '../../src/domain/durations.ts'
import { isoTime } from '../../src/domain/iso-time.ts'
import { ask } from '../../src/testing/ask.ts'
import { publishForm } from '../../src/testing/preview-publish.ts'
import { type Seeded, seedDeployment } from '../../src/testing/seed.ts'
import { seedKey, seedMember } from '../../src/testing/seed-people.ts'
import { type TestApp, testApp } from '../../src/testing/test-app.ts'
import { ADMIN, browserOf, redirectOf } from '../testing/browser.ts'

/** The forms that change the end of a preview, on the project's page and on the alias' own. contract 16 §2. */
let app: TestApp
let site: Seeded
let contributor: string
let viewer: string
let key: string

beforeAll(async () => {
  app = await testApp()
  await app.addUser(ADMIN, 'admin')
  const docs = { owner: 'acme', repo: 'docs', sha: 'a'.repeat(40), alias: 'production' }
  site = await seedDeployment(app, { ...docs, files: { 'index.html': 'x' } })
  contributor = await seedMember(app, site.projectId, 'contributor')
  viewer = await seedMember(app, site.projectId, 'viewer')
  key = seedKey(app, site.projectId)
})
afterAll(() => app.close())

type Alias = { id: string; expiresAt: string | null }

const preview = async (name: string): Promise<Alias> => {
  const fields = { preview: name, pullRequest: '12', pullRequestUrl: 'https://git.example/pull/12' }
  return (await publishForm(app, key, fields)).body['alias'] as Alias
}
const now = async ({ id }: { id: string }): Promise<Alias | undefined> =>
  (
    (await ask(app, 'GET', `/api/aliases?projectId=${site.projectId}&limit=100`, { key })).body[
      'data'
    ] as Alias[]
  ).find((one) => one.id === id)
const home = () => `/projects/${site.projectId}`
const pageOf = ({ id }: { id: string }) => `${home()}/aliases/${id}`
const send = (path: string, fields: Record<string, string>, as = contributor) =>
  browserOf(app).submit(path, fields, { as })
const read = async (path: string, as = contributor) => (await browserOf(app).open(path, { as })).text()

test('the project’s page lists them with pull request, end and what may be done', async () => {
  expect(await read(home())).toContain('svc deploy --preview pr-12')
  await preview('listed')
  const html = await read(home())
  for (const part of [
    '<a href="https://git.example/pull/12" rel="noreferrer">#12</a>',
    'Extend listed by 7 days',
    'End listed?',
  ])
    expect(html).toContain(part)
  const seen = await read(home(), viewer)
  expect([seen.includes('>listed<'), seen.includes('End listed?')]).toEqual([true, false])
})

test('the pages of an alias and of a deployment say when it ends', async () => {
  const alias = await preview('told')
  const deployment = (await ask(app, 'GET', `/api/aliases?name=told`, { key })).body['data'] as {
    number: number
  }[]
  expect(await read(pageOf(alias))).toContain('Each publish begins its time anew')
  expect(await read(pageOf(alias))).not.toContain('Delete this alias')
  expect(await read(`${home()}/deployments/${deployment[0]?.number}`)).toContain('Ends: ')
})

test.each([
  ['the project', () => home()],
  ['the alias', pageOf],
])('on the page of %s a contributor extends, keeps and ends', async (_where, pathOf) => {
  const alias = await preview('worked-on')
  const path = pathOf(alias)
  const fields = (intent: string) => ({ intent, aliasId: alias.id })
  expect(redirectOf(await send(path, fields('extend')))).toEqual([303, `${path}?done=extended`])
  expect((await now(alias))?.expiresAt).toBe(isoTime(app.ctx.now() + 14 * DAY_MS))
  for (const intent of ['extend', 'keep', 'end'])
    expect((await send(path, fields(intent), viewer)).status).toBe(403)
  expect(redirectOf(await send(path, fields('end')))).toEqual([303, `${home()}?done=ended`])
  expect(await now(alias)).toBeUndefined()
  const kept = await preview(`kept-${path.length}`)
  const there = pathOf(kept)
  expect(redirectOf(await send(there, { intent: 'keep', aliasId: kept.id }))).toEqual([
    303,
    `${there}?done=kept`,
  ])
  expect((await now(kept))?.expiresAt).toBeNull()
  for (const intent of ['extend', 'keep', 'end']) {
    const late = await send(there, { intent, aliasId: kept.id })
    expect([late.status, (await late.text()).includes('is no preview any more')]).toEqual([409, true])
  }
})

test('no alias without an end is given one or ended this way, nor settings changed', async () => {
  const production = { id: site.aliasId ?? '' }
  for (const intent of ['extend', 'keep', 'end'])
    expect((await send(home(), { intent, aliasId: production.id })).status).toBe(409)
  for (const intent of ['settings', 'delete'])
    expect((await send(pageOf(production), { intent, confirm: 'production' })).status).toBe(403)
  expect((await send(home(), { intent: 'end', aliasId: 'nothing' })).status).toBe(404)
  expect(await now(production)).toMatchObject({ expiresAt: null })
})
