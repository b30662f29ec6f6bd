import { afterAll, beforeAll, expect, test } from 'bun:test'
import { ask } from '../testing/ask.ts'
import { type TestApp, testApp } from '../testing/test-app.ts'
import { createApi } from './endpoints.ts'

/** `/api/projects/:owner/:name` beside `/api/projects/:id/members`: a project may have such a word as its name. */

const as = 'ann@example.com'
let app: TestApp
let words: string[]
beforeAll(async () => {
  app = await testApp()
  await app.addUser(as)
  const paths = createApi(app.ctx).routes.map(({ path }) => path)
  words = [...new Set(paths.flatMap((path) => /^\/api\/projects\/:[^/]+\/([^:/]+)/.exec(path)?.[1] ?? []))]
})
afterAll(() => app.close())

test('a project named like a part of the API is read by owner and name', async () => {
  expect(words).toContain('transfer-ownership')
  for (const name of words) {
    const made = await ask(app, 'POST', '/api/projects', { as, json: { owner: 'acme', name } })
    expect(made.status).toBe(201)
    for (const path of [`acme/${name}`, `ACME/${name}/`])
      expect([path, await ask(app, 'GET', `/api/projects/${path}`, { as })]).toEqual([
        path,
        { status: 200, body: made.body },
      ])
    const answer = await app.call('GET', `/api/projects/${made.body['id']}/${name}`, { as })
    expect([name, (await answer.json()).name]).toEqual([name, undefined])
  }
})

test('by id, ownership is only transferred', async () => {
  const { body } = await ask(app, 'POST', '/api/projects', { as, json: { owner: 'acme', name: 'docs' } })
  const answer = await app.call('GET', `/api/projects/${body['id']}/transfer-ownership`, { as })
  expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'OPTIONS, POST'])
  expect((await ask(app, 'GET', '/api/projects/nobody/transfer-ownership', { as })).status).toBe(404)
})
