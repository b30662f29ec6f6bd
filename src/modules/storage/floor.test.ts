import { afterEach, expect, test } from 'bun:test'
import { type HookApp, hookApp } from '../../testing/hook-app.ts'
import { until } from '../../testing/until.ts'
import { brokenOff, uploadWorld } from '../deployments/upload/upload.fixture.ts'
import { lookAtDisk } from './low-disk.ts'

/** No disk has so much, so what is free is below the floor. */
const LOW = { MIN_FREE_DISK: '1000t' }
const FLOOR = 1000 * 2 ** 40

let close: () => void | Promise<void> = () => {}
afterEach(() => close())
const world = async (env: Record<string, string>) => {
  const made = await uploadWorld(env)
  close = () => made.close()
  return made
}

test.each([
  ['POST', '/api/deployments?repository=acme/docs&commitSha=aaaaaaa', 'application/zip'],
  ['POST', '/api/deployments', 'multipart/form-data; boundary=x'],
  ['POST', '/api/deployments/zip', 'multipart/form-data; boundary=x'],
  ['POST', '/api/assets/upload', 'multipart/form-data; boundary=x'],
  ['POST', '/api/deployments/manifest', 'application/json'],
])('below the floor %s %s is 507 before the body is read', async (method, path, type) => {
  const { send, keys } = await world(LOW)
  const body = brokenOff(new Uint8Array(0))
  const answer = await send(method, path, { key: keys.docs, headers: { 'content-type': type }, body })
  expect(answer).toMatchObject({
    status: 507,
    body: {
      statusCode: 507,
      error: 'DISK_LOW',
      details: [{ path: 'freeBytes', message: expect.any(String), free: expect.any(Number), floor: FLOOR }],
    },
  })
})

test('whoever may not publish is told that first', async () => {
  const { send, cookie } = await world(LOW)
  const path = '/api/deployments?repository=acme/docs&commitSha=aaaaaaa'
  const headers = { 'content-type': 'application/zip' }
  expect((await send('POST', path, { headers, body: 'x' })).status).toBe(401)
  expect(
    (await send('POST', path, { headers: { ...headers, cookie: cookie('vera') }, body: 'x' })).status,
  ).toBe(403)
})

test('everything else goes on, and the storage says so', async () => {
  const { send, call, cookie } = await world(LOW)
  const headers = { cookie: cookie('root') }
  const made = await send('POST', '/api/projects', { headers, json: { owner: 'acme', name: 'new' } })
  expect(made.status).toBe(201)
  const { body } = await send('GET', '/api/storage', { headers })
  expect(body).toMatchObject({ floorBytes: FLOOR, isLow: true })
  const metrics = await (await call('GET', '/metrics')).text()
  expect(metrics).toContain(`\nsvc_disk_floor_bytes ${FLOOR}\n`)
})

test('the floor is 5 % of the disk and at most 1 GiB, or off', async () => {
  const { send, cookie } = await world({})
  const { body } = await send('GET', '/api/storage', { headers: { cookie: cookie('root') } })
  expect(body['floorBytes']).toBe(Math.min(2 ** 30, Math.floor(Number(body['totalBytes']) * 0.05)))
  await close()
  const off = await world({ MIN_FREE_DISK: '0' })
  const answer = await off.send('GET', '/api/storage', { headers: { cookie: off.cookie('root') } })
  expect(answer.body).toMatchObject({ floorBytes: 0, isLow: false })
})

const hooked = async (env: Record<string, string>): Promise<HookApp> => {
  const made = await hookApp(env)
  close = () => made.close()
  return made
}
const told = async (hooks: HookApp) => {
  await hooks.send()
  return hooks.receiver.received.splice(0).map(({ body }) => {
    const { event, data, project }: Record<string, unknown> = JSON.parse(body)
    return { event, data, project }
  })
}

test('the hooks are told once, and again only after it was ample', async () => {
  const hooks = await hooked(LOW)
  lookAtDisk(hooks.app.ctx)
  await hooks.make({ events: ['disk.low'] }, '/api/webhooks')
  lookAtDisk(hooks.app.ctx)
  lookAtDisk(hooks.app.ctx)
  const data = { freeBytes: expect.any(Number), totalBytes: expect.any(Number), floorBytes: FLOOR }
  expect(await told(hooks)).toEqual([{ event: 'disk.low', data, project: null }])

  const { config } = hooks.app.ctx
  const free = (await hooks.call('GET', '/api/storage')).body['freeBytes'] as number
  const look = (minFreeDisk: number) => {
    hooks.app.ctx.config = { ...config, minFreeDisk }
    lookAtDisk(hooks.app.ctx)
  }
  look(Math.floor(free / 2.5))
  look(Math.ceil(free))
  expect(await told(hooks)).toEqual([])
  look(Math.floor(free / 4))
  look(Math.ceil(free / 1.5))
  expect(await told(hooks)).toMatchObject([{ event: 'disk.low' }])
})

test('a refusal looks at the disk', async () => {
  const hooks = await hooked(LOW)
  await hooks.make({ events: ['*'] }, '/api/webhooks')
  const path = '/api/deployments?repository=acme/docs&commitSha=aaaaaaa'
  const { status } = await hooks.app.call('POST', path, {
    as: 'root@example.com',
    headers: { 'content-type': 'application/zip' },
    body: 'x',
  })
  expect(status).toBe(507)
  const events: unknown[] = []
  await until('both are told', async () => {
    for (const { event } of await told(hooks)) events.push(event)
    return events.length >= 2
  })
  expect(events.sort()).toEqual(['deployment.failed', 'disk.low'])
})
