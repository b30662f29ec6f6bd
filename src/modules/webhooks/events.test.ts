import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { HOUR_MS, MINUTE_MS } from '../../domain/durations.ts'
import { type HookApp, hookApp, type Made } from '../../testing/hook-app.ts'
import { publishTo } from '../../testing/hook-publish.ts'
import type { Received } from '../../testing/hook-receiver.ts'
import { endDuePreviews } from '../aliases/previews/due.ts'
import { tellOfBackup, tellOfCertificate, watchForHooks } from './watch.ts'

const SHA = 'b'.repeat(40)
let hooks: HookApp
let everything: Made
let mine: Made
beforeAll(async () => {
  hooks = await hookApp()
  everything = await hooks.make({ url: hooks.receiver.url('/all') }, '/api/webhooks')
  mine = await hooks.make({ url: hooks.receiver.url('/mine') })
})
afterAll(() => hooks.close())

type Event = { id: string; event: string; project: { name: string } | null; data: Record<string, unknown> }

/** What both hooks were sent for `work`: names of events by path, and the bodies. */
async function toldOf(work: () => unknown): Promise<{ all: Event[]; mine: Event[]; requests: Received[] }> {
  hooks.receiver.received.length = 0
  await work()
  await hooks.send()
  const requests = [...hooks.receiver.received]
  const at = (path: string) =>
    requests.filter((one) => one.path === path).map(({ body }) => JSON.parse(body) as Event)
  return { all: at('/all'), mine: at('/mine'), requests }
}
const names = (events: Event[]) => events.map(({ event }) => event).sort()

test('a publish tells of its deployment, its release and its alias, signed in both manners', async () => {
  const told = await toldOf(() =>
    publishTo(hooks, { commitSha: SHA, alias: 'production', description: 'Hi @channel' }),
  )
  const expected = ['alias.moved', 'deployment.created', 'deployment.released']
  expect([names(told.all), names(told.mine)]).toEqual([expected, expected])
  const released = told.mine.find(({ event }) => event === 'deployment.released')
  expect(released).toMatchObject({
    workspace: { url: 'http://localhost:3000' },
    project: { id: hooks.site.projectId, owner: 'acme', name: 'docs' },
    actor: { kind: 'user', name: 'root@example.com' },
    data: {
      alias: 'production',
      deployment: { commitSha: SHA, description: 'Hi @channel', fileCount: 1 },
      previous: { commitSha: 'a'.repeat(40), version: 1 },
    },
  })
  for (const { path, headers, body } of told.requests) {
    const { secret } = path === '/all' ? everything : mine
    const id = (JSON.parse(body) as Event).id
    const at = Number(headers['x-svc-timestamp'])
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'svc/0.0.0-test',
      'x-svc-event': (JSON.parse(body) as Event).event,
      'x-svc-delivery': id,
      'webhook-id': id,
      'webhook-timestamp': String(at),
      'x-svc-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    })
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
    const standard = createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64')
    expect(headers['webhook-signature']).toBe(`v1,${standard}`)
    expect(at).toBe(Math.floor(hooks.app.ctx.now() / 1000))
  }
})

test('a publish that changes nothing new tells nothing', async () => {
  const told = await toldOf(() =>
    publishTo(hooks, { commitSha: SHA, alias: 'production', description: 'Hi @channel' }),
  )
  expect(told.requests).toEqual([])
})

test('another version of a commit tells of itself, and from which version to which its alias went', async () => {
  const told = await toldOf(() => publishTo(hooks, { commitSha: SHA, alias: 'production', branch: 'main' }))
  const dataOf = (name: string) => told.mine.find(({ event }) => event === name)?.data
  expect(dataOf('deployment.created')).toMatchObject({ deployment: { commitSha: SHA, version: 2 } })
  expect(dataOf('deployment.released')).toMatchObject({
    deployment: { version: 2 },
    previous: { commitSha: SHA, version: 1 },
  })
  expect(dataOf('alias.moved')).toMatchObject({
    from: { commitSha: SHA, version: 1 },
    to: { commitSha: SHA, version: 2 },
    reason: 'publish',
  })
})

const refused: [why: string, fields: Record<string, string>, status: number, data: unknown][] = [
  [
    'a bad field',
    { commitSha: SHA, alias: '..' },
    400,
    { commitSha: SHA, alias: '..', error: { statusCode: 400, error: 'Bad Request' } },
  ],
  ['no SHA', {}, 400, { commitSha: null, alias: null, error: { message: 'commitSha: is missing' } }],
]
test.each(refused)('a publish that is refused for %s tells of it', async (_why, fields, status, data) => {
  const told = await toldOf(async () => expect((await publishTo(hooks, fields)).status).toBe(status))
  expect(names(told.mine)).toEqual(['deployment.failed'])
  expect(told.mine[0]?.data).toMatchObject(data as object)
})

test('a broken archive and a bad manifest tell of it, with their own errors', async () => {
  const query = `repository=acme/docs&commitSha=${SHA}&alias=next`
  const archive = { as: 'root@example.com', headers: { 'content-type': 'application/zip' }, body: 'no zip' }
  const told = await toldOf(async () => {
    expect((await hooks.app.call('POST', `/api/deployments?${query}`, archive)).status).toBe(400)
    const json = { repository: 'acme/docs', commitSha: SHA, files: [{ path: '../x' }] }
    expect((await hooks.call('POST', '/api/deployments/manifest', json)).status).toBe(400)
  })
  expect(names(told.mine)).toEqual(['deployment.failed', 'deployment.failed'])
})

test('a publish by somebody who may not tells nothing', async () => {
  await hooks.app.addUser('stranger@example.com')
  const body = new FormData()
  body.append('repository', 'acme/docs')
  body.append('commitSha', 'x')
  body.append('files', new File(['x'], 'index.html'))
  const told = await toldOf(async () => {
    const answer = await hooks.app.call('POST', '/api/deployments', { as: 'stranger@example.com', body })
    expect([403, 404]).toContain(answer.status)
    expect((await hooks.app.call('POST', '/api/deployments', { body: 'x' })).status).toBe(401)
  })
  expect(told.requests).toEqual([])
})

test('making, moving and deleting an alias tell from where to where and why', async () => {
  const { projectId } = hooks.site
  let id = ''
  const told = await toldOf(async () => {
    const json = { projectId, name: 'next', commitSha: 'a'.repeat(40) }
    id = String((await hooks.call('POST', '/api/aliases', json)).body['id'])
    await hooks.call('PATCH', `/api/aliases/${id}`, { commitSha: SHA })
    await hooks.call('PATCH', `/api/aliases/${id}`, { commitSha: SHA, isSpa: true })
    await hooks.call('DELETE', `/api/aliases/${id}`)
  })
  const sides = told.mine
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .map(({ data }) => [data['reason'], sha(data['from']), sha(data['to'])])
  const a = 'a'.repeat(40)
  expect(sides).toEqual([
    ['create', null, a],
    ['move', a, SHA],
    ['delete', SHA, null],
  ])
})
const sha = (end: unknown) => (end as { commitSha: string } | null)?.commitSha ?? null

test('a domain of the base domain is verified when it is made', async () => {
  const json = { projectId: hooks.site.projectId, hostname: 'www.localhost', alias: 'production' }
  const told = await toldOf(async () =>
    expect((await hooks.call('POST', '/api/domains', json)).status).toBe(201),
  )
  expect(names(told.mine)).toEqual(['domain.verified'])
  expect(told.mine[0]?.data).toMatchObject({ domain: { hostname: 'www.localhost', alias: 'production' } })
})

test('a domain that an admin trusts is verified then, and its proof is nobody elses', async () => {
  const json = { projectId: hooks.site.projectId, hostname: 'docs.example.com', alias: 'production' }
  let challenge = ''
  const told = await toldOf(async () => {
    const { body } = await hooks.call('POST', '/api/domains', json)
    challenge = (body['verification'] as { value: string }).value
    await hooks.call('POST', `/api/domains/${body['id']}/verify`, { verified: true })
  })
  expect(names(told.mine)).toEqual(['domain.verified'])
  expect(challenge.length).toBeGreaterThan(20)
  expect(JSON.stringify(told.all)).not.toContain(challenge)
})

test('an invitation tells the project, a new account only the workspace, and no link', async () => {
  const invited = await toldOf(() =>
    hooks.call('POST', `/api/projects/${hooks.site.projectId}/invitations`, {
      email: 'ann@example.com',
      role: 'viewer',
    }),
  )
  expect(invited.mine.map(({ event, data }) => [event, data])).toEqual([
    ['user.invited', { email: 'ann@example.com', role: 'viewer' }],
  ])
  const account = await toldOf(async () => {
    await hooks.call('POST', '/api/users', { email: 'ben@example.com' })
    await hooks.call('POST', '/api/users', { email: 'cy@example.com', password: 'long enough password' })
  })
  expect([account.mine, account.all.map(({ data, project }) => [data, project])]).toEqual([
    [],
    [[{ email: 'ben@example.com', role: 'member' }, null]],
  ])
})

const request = (status: number, weight: number, path = '/broken') =>
  hooks.logRequest({ status, weight, path })
const watch = () => watchForHooks(hooks.app.ctx, { aborted: false })

test('errors that rise are told once an hour', async () => {
  request(200, 1000)
  request(500, 10)
  hooks.app.advance(10 * MINUTE_MS)
  request(500, 19)
  request(200, 81)
  expect((await toldOf(watch)).requests).toEqual([])
  request(502, 1, '/other')
  const told = await toldOf(watch)
  expect(told.mine.map(({ event, data }) => [event, data])).toEqual([
    ['errors.rising', { count: 20, share: 20 / 101, path: '/broken' }],
  ])
  hooks.app.advance(MINUTE_MS)
  request(500, 500)
  expect((await toldOf(watch)).requests).toEqual([])
  hooks.app.advance(2 * HOUR_MS)
  request(500, 500)
  expect(names((await toldOf(watch)).mine)).toEqual(['errors.rising'])
})

test('many errors that are few of all, or no more than before, are not told', async () => {
  hooks.app.advance(3 * HOUR_MS)
  request(500, 100)
  request(200, 10_000)
  expect((await toldOf(watch)).requests).toEqual([])
  hooks.app.advance(10 * MINUTE_MS)
  request(500, 20)
  request(200, 1000)
  expect((await toldOf(watch)).requests).toEqual([])
})

test('a failed backup is told once a streak and day', async () => {
  const { ctx } = hooks.app
  const tell = (lastGoodAt: number | null) => toldOf(() => tellOfBackup(ctx, 'no space', lastGoodAt))
  const first = await tell(null)
  expect([first.mine, first.all.map(({ event, data }) => [event, data])]).toEqual([
    [],
    [['backup.failed', { message: 'no space' }]],
  ])
  hooks.app.advance(HOUR_MS)
  expect((await tell(null)).all).toEqual([])
  hooks.app.advance(HOUR_MS)
  expect(names((await tell(ctx.now() - 1)).all)).toEqual(['backup.failed'])
  hooks.app.advance(24 * HOUR_MS)
  expect(names((await tell(null)).all)).toEqual(['backup.failed'])
})

test('a certificate that fails is told once a day and host', async () => {
  const { ctx } = hooks.app
  const tell = (host: string) => toldOf(() => tellOfCertificate(ctx, host, null, 'CAA'))
  const first = await tell('a.test')
  expect(first.all[0]).toMatchObject({
    event: 'certificate.failing',
    project: null,
    data: { host: 'a.test', expiresAt: null, error: 'CAA' },
  })
  expect([(await tell('a.test')).all, names((await tell('b.test')).all)]).toEqual([
    [],
    ['certificate.failing'],
  ])
  hooks.app.advance(24 * HOUR_MS)
  expect((await tell('a.test')).all).toHaveLength(1)
})

test('a change that is rolled back, and a hook that did not want it, send nothing', async () => {
  const json = { projectId: hooks.site.projectId, name: 'production', commitSha: SHA }
  const told = await toldOf(async () =>
    expect((await hooks.call('POST', '/api/aliases', json)).status).toBe(409),
  )
  expect(told.requests).toEqual([])
  const few = await hooks.make({ url: hooks.receiver.url('/few'), events: ['preview.ended', 'disk.low'] })
  const moved = await toldOf(() => hooks.call('POST', '/api/aliases', { ...json, name: 'other' }))
  expect(moved.requests.map(({ path }) => path).sort()).toEqual(['/all', '/mine'])
  expect(await hooks.deliveries(few)).toEqual([])
})

test('a preview tells of its release and, by hand or by time, of its end', async () => {
  const sha = 'd'.repeat(40)
  const published = await toldOf(() => publishTo(hooks, { commitSha: sha, preview: 'pr-1', expiresIn: '1h' }))
  expect(names(published.mine)).toEqual(['alias.moved', 'deployment.created', 'deployment.released'])
  const released = published.mine.find(({ event }) => event === 'deployment.released')
  expect(released?.data).toMatchObject({ alias: 'pr-1', previous: null, deployment: { preview: 'pr-1' } })
  const ended = await toldOf(() =>
    hooks.call('DELETE', `/api/projects/${hooks.site.projectId}/previews/pr-1`),
  )
  const data = (events: Event[]) => Object.fromEntries(events.map(({ event, data }) => [event, data]))
  const from = { commitSha: sha, version: 1, deploymentId: expect.any(String) }
  expect(data(ended.mine)).toEqual({
    'alias.moved': { alias: 'pr-1', from, to: null, reason: 'end' },
    'preview.ended': { name: 'pr-1', reason: 'closed' },
  })
  await publishTo(hooks, { commitSha: 'e'.repeat(40), preview: 'pr-2', expiresIn: '1h' })
  hooks.app.advance(HOUR_MS)
  const expired = await toldOf(() => endDuePreviews(hooks.app.ctx))
  expect(data(expired.all)['preview.ended']).toEqual({ name: 'pr-2', reason: 'expired' })
  expect(expired.all.find(({ event }) => event === 'preview.ended')).toMatchObject({
    actor: { kind: 'operator' },
  })
})
