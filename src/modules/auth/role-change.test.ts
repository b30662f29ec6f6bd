import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { DOCS, SEED_OWNER, seedDeployment } from '../../testing/seed.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'

/** Role change during a request: whoever sends a body slowly must not keep the rights they had at its start. */

const ROOT = 'root@example.com'
const EVE = 'eve@example.com'
const JSON_TYPE = { 'content-type': 'application/json' }
const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' }

let app: TestApp
let projectId = ''
const userIds: Record<string, string> = {}

beforeEach(async () => {
  app?.close()
  app = await testApp()
  for (const email of [ROOT, EVE]) userIds[email] = await app.addUser(email, 'admin')
  const seeded = await seedDeployment(app, DOCS)
  projectId = seeded.projectId
})
afterAll(() => app.close())

/** A body whose second half is sent when `finish` is called; `isAwaited` resolves once the server has begun to read. */
function slowBody(text: string) {
  const awaited = Promise.withResolvers<void>()
  const finished = Promise.withResolvers<void>()
  const bytes = new TextEncoder().encode(text)
  const half = Math.floor(bytes.length / 2)
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        controller.enqueue(bytes.slice(0, half))
        awaited.resolve()
        await finished.promise
        controller.enqueue(bytes.slice(half))
        controller.close()
      },
    },
    { highWaterMark: 0 },
  )
  return { body, isAwaited: awaited.promise, finish: () => finished.resolve() }
}

type Slow = { as?: string; key?: string; host?: string; type: Record<string, string>; text: string }

/** Sends the first half, lets `meanwhile` happen, sends the rest. */
async function during(
  method: string,
  path: string,
  { type, text, ...options }: Slow,
  meanwhile: () => Promise<unknown>,
): Promise<Response> {
  const { body, isAwaited, finish } = slowBody(text)
  const answer = app.call(method, path, { ...options, headers: type, body })
  await isAwaited
  await meanwhile()
  finish()
  return answer
}

const roleOf = async (email: string): Promise<unknown> =>
  (await (await app.call('GET', `/api/users/${userIds[email]}`, { as: ROOT })).json()).role

const demote = async () => {
  const changed = await app.call('PATCH', `/api/users/${userIds[EVE]}`, {
    as: ROOT,
    json: { role: 'member' },
  })
  expect(changed.status).toBe(200)
}
const signOutRoot = () => app.call('POST', '/api/auth/signout', { as: ROOT })
const signOut = () => app.call('POST', '/api/auth/signout', { as: EVE })

describe('role change during a request', () => {
  test('a demoted admin cannot become admin again with a request in progress', async () => {
    const call = { as: EVE, type: JSON_TYPE, text: JSON.stringify({ role: 'admin' }) }
    const answer = await during('PATCH', `/api/users/${userIds[EVE]}`, call, demote)
    expect(answer.status).toBe(403)
    expect(await roleOf(EVE)).toBe('member')
  })

  test('nor with a form of a page', async () => {
    const form = { as: EVE, type: FORM_TYPE, text: 'intent=role&role=admin' }
    const answer = await during('POST', `/admin/users/${userIds[EVE]}`, form, demote)
    expect(answer.status).toBe(403)
    expect(await roleOf(EVE)).toBe('member')
  })

  test('nor create another admin while the password is hashed', async () => {
    const hash = app.ctx.passwords.hash
    const begun = Promise.withResolvers<void>()
    const demoted = Promise.withResolvers<void>()
    app.ctx.passwords.hash = async (password) => {
      begun.resolve()
      await demoted.promise
      return hash(password)
    }
    const json = { email: 'next@example.com', password: 'correct horse battery', role: 'admin' }
    const answer = app.call('POST', '/api/users', { as: EVE, json })
    await begun.promise
    await demote()
    demoted.resolve()
    expect((await answer).status).toBe(403)
    expect(app.ctx.db.sqlite.query('SELECT email FROM users').all()).not.toContainEqual({
      email: 'next@example.com',
    })
  })

  test('an ended session is anonymous, for API requests and forms', async () => {
    const call = { as: EVE, type: JSON_TYPE, text: JSON.stringify({ email: 'new@example.com' }) }
    expect((await during('POST', '/api/users', call, signOut)).status).toBe(401)
    expect(app.ctx.db.sqlite.query('SELECT email FROM users').all()).not.toContainEqual({
      email: 'new@example.com',
    })
  })

  test('a key that was revoked changes nothing', async () => {
    const made = await app.call('POST', '/api/api-keys', { as: ROOT, json: { name: 'ci', projectId } })
    const { key, apiKey } = await made.json()
    const call = { key, type: JSON_TYPE, text: JSON.stringify({ projectId, name: 'notes', fields: [] }) }
    const revoke = () => app.call('DELETE', `/api/api-keys/${apiKey.id}`, { as: ROOT })
    expect((await during('POST', '/api/schemas', call, revoke)).status).toBe(401)
    expect(app.ctx.db.sqlite.query('SELECT * FROM schemas').all()).toEqual([])
  })

  test('a contributor who lost their role is a stranger', async () => {
    const con = 'con@example.com'
    const id = await app.addUser(con)
    const people = `/api/projects/${projectId}/permissions/users`
    await app.call('POST', people, { as: SEED_OWNER, json: { userId: id, role: 'contributor' } })
    const call = { as: con, type: JSON_TYPE, text: JSON.stringify({ projectId, name: 'notes', fields: [] }) }
    const revoke = () => app.call('DELETE', `${people}/${id}`, { as: SEED_OWNER })
    expect((await during('POST', '/api/schemas', call, revoke)).status).toBe(404)
    expect(app.ctx.db.sqlite.query('SELECT * FROM schemas').all()).toEqual([])
  })

  test('a demoted admin cannot publish with an upload in progress', async () => {
    const path = '/api/deployments?owner=acme&repo=docs&commitSha=bbbbbbbbbbbb&alias=production'
    const tar = await new Bun.Archive({ 'index.html': 'defaced' }).blob()
    const upload = { as: EVE, type: { 'content-type': 'application/x-tar' }, text: await tar.text() }
    expect((await during('POST', path, upload, demote)).status).toBe(404)
    const { total } = (await (await app.call('GET', '/api/deployments', { as: ROOT })).json()).pagination
    expect(total).toBe(1)
  })

  test('a pipeline for contributors does not run for somebody who no longer is one', async () => {
    const con = 'con@example.com'
    const id = await app.addUser(con)
    const people = `/api/projects/${projectId}/permissions/users`
    await app.call('POST', people, { as: SEED_OWNER, json: { userId: id, role: 'contributor' } })
    const validators = [{ type: 'auth_required', config: { roles: ['contributor'] } }]
    const steps = [{ id: 'said', handlerType: 'response_handler', config: { body: '{}' } }]
    const rule = { pathPattern: '/act', proxyType: 'pipeline', pipelineConfig: { validators, steps } }
    const made = await app.call('POST', `/api/proxy-rules/project/${projectId}`, {
      as: SEED_OWNER,
      json: rule,
    })
    expect(made.status).toBe(201)
    const host = 'aaaaaaaaaaaa--docs--acme.localhost'
    const call = { as: con, host, type: JSON_TYPE, text: JSON.stringify({ act: 'now' }) }
    const post = (meanwhile: () => Promise<unknown>) => during('POST', '/act', call, meanwhile)
    expect((await post(signOutRoot)).status).toBe(200)
    const revoke = () => app.call('DELETE', `${people}/${id}`, { as: SEED_OWNER })
    expect((await post(revoke)).status).toBe(403)
  })

  test('changes for other people in the meantime do not matter', async () => {
    const call = { as: EVE, type: JSON_TYPE, text: JSON.stringify({ email: 'new@example.com' }) }
    expect((await during('POST', '/api/users', call, signOutRoot)).status).toBe(201)
  })
})
