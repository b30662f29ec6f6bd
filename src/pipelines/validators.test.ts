import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Caller } from '../context.ts'
import { ANONYMOUS, IP, type PipelineApp, pipelineApp, step } from '../testing/pipeline-app.ts'
import type { PipelineValidator } from './language/model.ts'

let app: PipelineApp
beforeAll(async () => {
  app = await pipelineApp()
})
afterAll(() => app.close())

const respond = (body: unknown, more = {}) => step('r', 'response_handler', { body }, more)

describe('validators', () => {
  const site = { projectId: '', host: 'site.test' }
  const user = (email: string, id: string, role: 'admin' | 'user' | 'member' = 'user'): Caller => ({
    actor: { kind: 'user', user: { id, email, role }, sessionId: 's', ip: IP },
    site,
    refused: null,
  })
  const key = (projectId: string | null): Caller => ({
    actor: {
      kind: 'key',
      key: { id: 'k', name: 'k', projectId, isGlobal: projectId === null, createdBy: null },
      ip: IP,
    },
    site,
    refused: null,
  })

  test('auth_required', async () => {
    const [ann, bob] = [await app.addUser('owner@example.com'), await app.addUser('viewer@example.com')]
    const grant = app.ctx.db.sqlite.query('INSERT INTO permissions VALUES (?, ?, ?, 0)')
    const guarded = app.addProject('guarded')
    grant.run(guarded, ann, 'admin')
    grant.run(guarded, bob, 'viewer')
    app.ctx.db.writes += 1
    const callers: Record<string, Caller> = {
      anonymous: ANONYMOUS,
      'project admin': user('owner@example.com', ann),
      viewer: user('viewer@example.com', bob, 'member'),
      stranger: user('x@example.com', app.ctx.newId()),
      'global admin': user('root@example.com', app.ctx.newId(), 'admin'),
      'its key': key(guarded),
      'global key': key(null),
      'other key': key(app.projectId),
    }
    const statusOf = async (config: Record<string, unknown>) => {
      const pipeline = { steps: [respond('{}')], validators: [{ type: 'auth_required', config }] }
      const statuses: Record<string, number> = {}
      for (const [name, caller] of Object.entries(callers))
        statuses[name] = (await app.run(pipeline, { projectId: guarded, caller })).status
      return statuses
    }
    const all = {
      anonymous: 401,
      'project admin': 200,
      viewer: 200,
      stranger: 200,
      'global admin': 200,
      'its key': 401,
      'global key': 401,
      'other key': 401,
    }
    expect(await statusOf({})).toEqual(all)
    expect(await statusOf({ allowApiKey: true })).toEqual({
      ...all,
      'its key': 200,
      'global key': 200,
      'other key': 403,
    })
    expect(await statusOf({ roles: ['viewer'] })).toEqual({ ...all, stranger: 403 })
    expect(await statusOf({ roles: ['admin'], allowApiKey: true })).toEqual({
      ...all,
      viewer: 403,
      stranger: 403,
      'its key': 403,
      'global key': 403,
      'other key': 403,
    })
    expect(await statusOf({ roles: ['contributor'], allowApiKey: true })).toEqual({
      ...all,
      viewer: 403,
      stranger: 403,
      'its key': 200,
      'global key': 200,
      'other key': 403,
    })
    const noKey = { ...all, 'its key': 403, 'global key': 403, 'other key': 403 }
    for (const more of [
      {},
      { allowApiKey: true },
      { allowApiKey: false, roles: ['guest', 'user', 'admin', 'member'] },
    ])
      expect(await statusOf({ ...more, requiredScopes: ['a:b', 'c'] })).toEqual(noKey)
    expect(await statusOf({ requiredScopes: [] })).toEqual(all)
    const scoped = await app.run(
      {
        steps: [respond('{}')],
        validators: [
          {
            type: 'auth_required',
            config: { requiredScopes: ['read:x', 'a"b\\', 'ü\n'], allowApiKey: true },
          },
        ],
      },
      { projectId: guarded, caller: key(guarded) },
    )
    expect(scoped.headers.get('www-authenticate')).toBe(
      'Bearer error="insufficient_scope", scope="read:x a%22b%5C %C3%BC%0A"',
    )
    expect(await scoped.json()).toMatchObject({ error: 'INSUFFICIENT_SCOPE', statusCode: 403 })
    expect(await statusOf({ roles: ['member'] })).toEqual({
      ...all,
      'project admin': 403,
      stranger: 403,
      'global admin': 403,
    })
  })

  test('rate_limit counts per rule, by address or by user, and resets', async () => {
    const limited = (keyBy: string) => ({
      steps: [respond('{}')],
      validators: [{ type: 'rate_limit', config: { limit: 2, windowSeconds: 60, keyBy } }],
    })
    const from = (ip: string): Caller => ({ ...ANONYMOUS, actor: { kind: 'anonymous', ip } })
    const statusOf = async (id: string, keyBy: string, caller: Caller) =>
      (await app.run(limited(keyBy), { caller, rule: { id } })).status
    for (const status of [200, 200, 429]) expect(await statusOf('r1', 'ip', from('1.1.1.1'))).toBe(status)
    expect(await statusOf('r1', 'ip', from('2.2.2.2'))).toBe(200)
    expect(await statusOf('r2', 'ip', from('1.1.1.1'))).toBe(200)
    const over = await app.run(limited('ip'), { caller: from('1.1.1.1'), rule: { id: 'r1' } })
    expect(over.headers.get('retry-after')).toBe('60')
    app.advance(60_000)
    for (const status of [200, 200, 429]) expect(await statusOf('r1', 'ip', from('1.1.1.1'))).toBe(status)
    // The clock is corrected after it was an hour ahead.
    app.advance(-3_600_000)
    expect(await statusOf('r1', 'ip', from('1.1.1.1'))).toBe(200)
    for (const status of [200, 200, 429])
      expect(await statusOf('r3', 'user', user('a@x.ch', 'u1'))).toBe(status)
    expect(await statusOf('r3', 'user', user('b@x.ch', 'u2'))).toBe(200)
    for (const status of [200, 200, 429]) expect(await statusOf('r3', 'user', from('3.3.3.3'))).toBe(status)
  })

  test('they run before the body is read, and an unknown one rejects everybody', async () => {
    const large = { body: 'x'.repeat(11 * 1024 * 1024), headers: { 'content-type': 'text/plain' } }
    expect((await app.run({ steps: [], validators: [{ type: 'auth_required' }] }, large)).status).toBe(401)
    expect((await app.run({ steps: [], validators: [{ type: 'captcha' }] })).status).toBe(501)
    expect(
      (await app.run({ steps: [], validators: [{ type: 'rate_limit', config: { limit: 'many' } }] })).status,
    ).toBe(501)
  })

  test.each<[PipelineValidator, string]>([
    [{ type: 'captcha' }, 'captcha'],
    [{ type: 'toString' }, 'toString'],
    [{ type: 'auth_required', config: { scopes: ['a'] } }, 'scopes'],
    [{ type: 'auth_required', config: { constructor: 1 } }, 'constructor'],
    [{ type: 'rate_limit', config: { limit: 9, windowSeconds: 9, burst: 9 } }, 'burst'],
    [{ type: 'auth_required', ...{ requiredScopes: ['a'] } }, 'requiredScopes'],
  ])('%j never lets anybody pass', async (validator, named) => {
    const root = user('root@example.com', app.ctx.newId(), 'admin')
    for (const caller of [ANONYMOUS, root, key(app.projectId)]) {
      const answer = await app.run({ steps: [respond('{}')], validators: [validator] }, { caller })
      const { message } = await answer.json()
      expect(answer.status).toBe(501)
      expect(message).toContain(validator.type)
      expect(message).toContain(named)
    }
  })
})
