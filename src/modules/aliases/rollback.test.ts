import { afterAll, beforeAll, expect, test } from 'bun:test'
import { SEED_OWNER, type Seeded, seedDeployment } from '../../testing/seed.ts'
import { seedKey, seedMember } from '../../testing/seed-people.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'

/** `POST /api/aliases/:id/rollback`, and what the history says of it. contract 16 §1. */
let app: TestApp
let contributor = ''
let viewer = ''
let key = ''
let count = 0

beforeAll(async () => {
  app = await testApp()
  const { projectId } = await publish('a', 'other')
  contributor = await seedMember(app, projectId, 'contributor')
  viewer = await seedMember(app, projectId, 'viewer')
  key = seedKey(app, projectId)
})
afterAll(() => app.close())

const shaOf = (letter: string): string => letter.repeat(40)

const publish = async (letter: string, alias: string, basePath = ''): Promise<Seeded> => {
  app.advance(1000)
  count += 1
  return seedDeployment(app, {
    owner: 'acme',
    repo: 'docs',
    sha: shaOf(letter) + String(count).padStart(4, '0'),
    alias,
    basePath,
    files: { [`${basePath}/index.html`.slice(1)]: letter },
  })
}

type Move = { deploymentId: string; reason: string; exists: boolean }

const call = (method: string, path: string, json?: unknown, as = contributor) =>
  app.call(method, `/api/aliases/${path}`, as === 'key' ? { key, json } : { as, json })
const rollBack = (id: string | null, json: unknown = {}, as = contributor) =>
  call('POST', `${id}/rollback`, json, as)
const historyOf = async (id: string | null): Promise<Move[]> =>
  ((await (await call('GET', `${id}/history`)).json()) as { history: Move[] }).history
const shows = async ({ aliasHost }: Seeded): Promise<string> =>
  (await app.call('GET', '/', { host: aliasHost ?? '' })).text()

test('twice in a row goes there and back again, with the folder of that time', async () => {
  const a = await publish('a', 'twice', '/dist')
  const b = await publish('b', 'twice')
  expect(await shows(b)).toBe('b')
  for (const expected of ['a', 'b', 'a']) {
    app.advance(1000)
    const answer = await rollBack(b.aliasId, {}, expected === 'b' ? 'key' : contributor)
    const deploymentId = (expected === 'a' ? a : b).deploymentId
    expect(answer.status).toBe(200)
    expect(await answer.json()).toMatchObject({ id: b.aliasId, name: 'twice', deploymentId })
    expect(await shows(b)).toBe(expected)
  }
  const reasons = (await historyOf(b.aliasId)).map(({ reason }) => reason)
  expect(reasons).toEqual(['rollback', 'rollback', 'rollback', 'publish', 'publish'])
})

test('deployments that were deleted are passed over, and the history says so', async () => {
  const a = await publish('a', 'gone')
  const b = await publish('b', 'gone')
  const c = await publish('c', 'gone')
  const removed = await app.call('DELETE', `/api/deployments/${b.deploymentId}`, { as: SEED_OWNER })
  expect(removed.status).toBe(204)
  expect((await rollBack(c.aliasId)).status).toBe(200)
  expect(await shows(c)).toBe('a')
  expect((await historyOf(c.aliasId)).map(({ deploymentId, exists }) => [deploymentId, exists])).toEqual([
    [a.deploymentId, true],
    [c.deploymentId, true],
    [b.deploymentId, false],
    [a.deploymentId, true],
  ])
  await rollBack(c.aliasId)
  await app.call('DELETE', `/api/deployments/${a.deploymentId}`, { as: SEED_OWNER })
  expect(await (await rollBack(c.aliasId)).json()).toMatchObject({
    statusCode: 409,
    error: 'NOTHING_TO_ROLL_BACK_TO',
  })
})

test('`to` names one of those that the alias showed', async () => {
  const a = await publish('a', 'named')
  await publish('b', 'named')
  const c = await publish('c', 'named')
  const elsewhere = await publish('d', 'elsewhere')
  const strange = await seedDeployment(app, {
    owner: 'acme',
    repo: 'stranger',
    sha: shaOf('e'),
    files: { x: 'x' },
  })
  const refusals: [to: unknown, status: number, error: string][] = [
    [c.deploymentId, 409, 'NOTHING_TO_ROLL_BACK_TO'],
    [elsewhere.deploymentId, 409, 'NOTHING_TO_ROLL_BACK_TO'],
    [strange.deploymentId, 404, 'Not Found'],
    ['nothing', 404, 'Not Found'],
    [7, 400, 'Bad Request'],
    [null, 400, 'Bad Request'],
  ]
  for (const [to, status, error] of refusals)
    expect(await (await rollBack(c.aliasId, { to })).json()).toMatchObject({ statusCode: status, error })
  expect(await shows(c)).toBe('c')
  expect((await rollBack(c.aliasId, { to: a.deploymentId })).status).toBe(200)
  expect(await shows(c)).toBe('a')
})

test('a move to another folder of the same deployment is no way back', async () => {
  const a = await publish('a', 'alone')
  const answer = await rollBack(a.aliasId)
  expect([answer.status, ((await answer.json()) as { error: string }).error]).toEqual([
    409,
    'NOTHING_TO_ROLL_BACK_TO',
  ])
})

test('viewers may not; a locked alias goes back only for those who may unlock it', async () => {
  await publish('a', 'locked')
  const { aliasId } = await publish('b', 'locked')
  expect((await rollBack(aliasId, {}, viewer)).status).toBe(403)
  await call('PATCH', `${aliasId}`, { isLocked: true }, SEED_OWNER)
  for (const as of [contributor, 'key']) expect((await rollBack(aliasId, {}, as)).status).toBe(409)
  expect((await rollBack(aliasId, {}, SEED_OWNER)).status).toBe(200)
})

test('reasons: an alias is created, published to, moved; the audit log names them', async () => {
  const { projectId, deploymentId } = await publish('a', 'first')
  const made = await call('POST', '', { projectId, name: 'reasons', deploymentId })
  const { id } = (await made.json()) as { id: string }
  const b = await publish('b', 'reasons')
  app.advance(1000)
  await call('PATCH', id, { deploymentId })
  app.advance(1000)
  await rollBack(id)
  const history = await historyOf(id)
  expect(history.map(({ reason }) => reason)).toEqual(['rollback', 'move', 'publish', 'create'])
  const [entry] = app.ctx.db.sqlite
    .query<{ action: string; after: string }, [string]>(
      'SELECT action, after FROM audit_log WHERE target_id = ? ORDER BY rowid DESC LIMIT 1',
    )
    .all(id)
  expect(entry?.action).toBe('alias.move')
  expect(JSON.parse(entry?.after ?? '')).toMatchObject({
    deploymentId: b.deploymentId,
    reason: 'rollback',
  })
})
