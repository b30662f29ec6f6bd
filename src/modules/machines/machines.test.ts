import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { openObjectStore } from '../../platform/object-store.ts'
import { ask } from '../../testing/ask.ts'
import { type ObjectServer, STORE_KEYS, startObjectServer } from '../../testing/object-server.ts'
import { seedDeployment } from '../../testing/seed.ts'
import { type StoreApp, storeApp } from '../../testing/store-app.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'
import type { MachineReport } from './report.ts'
import { noteReport } from './reported.ts'

const ROOT = 'root@example.com'

const machinesOf = async (app: TestApp) => (await ask(app, 'GET', '/api/machines', { as: ROOT })).body

test('without an object store there is one machine, which is the primary', async () => {
  const app = await testApp({ MACHINE_NAME: 'alone' })
  await app.addUser(ROOT, 'admin')
  expect(await machinesOf(app)).toEqual({
    self: 'alone',
    primary: 'alone',
    machines: [
      {
        name: 'alone',
        role: 'primary',
        url: null,
        version: '0.0.0-test',
        epoch: 0,
        number: 0,
        lagMs: 0,
        lastSeenAt: '2026-11-20T12:00:00.000Z',
        cacheBytes: 0,
        cacheHits: 0,
        cacheMisses: 0,
      },
    ],
    store: null,
  })
  app.close()
})

describe('with an object store', () => {
  let server: ObjectServer
  let app: StoreApp
  beforeAll(async () => {
    server = startObjectServer()
    const { endpoint } = server
    const where = { ...STORE_KEYS, bucket: 'bucket', prefix: 'w/', endpoint }
    const store = openObjectStore({ ...where, timeoutMs: 1_000, now: Date.now, writer: 'w1' })
    const env = { STORE_URL: 's3://bucket/w/', MACHINE_NAME: 'one', MACHINE_URL: 'http://10.0.0.1:8080' }
    app = await storeApp(env, { isOnDisk: false, store: { store, epoch: () => 3 } })
    await app.addUser(ROOT, 'admin')
    await seedDeployment(app, {
      owner: 'acme',
      repo: 'docs',
      sha: 'a'.repeat(40),
      files: { 'a.txt': 'hello' },
    })
  })
  afterAll(async () => {
    app.close()
    await server.stop()
  })

  test('what it holds, and what this machine is to it', async () => {
    const { self, primary, machines, store } = await machinesOf(app)
    expect([self, primary]).toEqual(['one', 'one'])
    expect(machines).toEqual([
      expect.objectContaining({
        name: 'one',
        role: 'primary',
        url: 'http://10.0.0.1:8080',
        epoch: 3,
        number: 7,
      }),
    ])
    const [pack] = [...server.objects].filter(([key]) => key.startsWith('w/packs/'))
    expect(store).toEqual({
      url: 's3://bucket/w',
      status: 'ok',
      error: null,
      logBytes: 0,
      baseAt: null,
      contentBytes: pack?.[1].bytes.length,
      objects: 1,
    })
  })

  test('what other machines said last is listed by name, and dropped after an hour of silence', async () => {
    const report = (name: string, more: Partial<MachineReport> = {}): MachineReport => ({
      ...{ name, role: 'node', url: null, version: '1.0.0', epoch: 3, number: 5, lagMs: 40 },
      ...{ cacheBytes: 1, cacheHits: 2, cacheMisses: 3, ...more },
    })
    noteReport(app.ctx, report('three'), 'a')
    noteReport(app.ctx, report('two', { role: 'standby', number: 4 }), 'b')
    noteReport(app.ctx, report('two', { role: 'standby', number: 6 }), 'c')
    const names = async () => ((await machinesOf(app))['machines'] as MachineReport[]).map(({ name }) => name)
    expect(((await machinesOf(app))['machines'] as unknown[])[2]).toEqual({
      ...report('two', { role: 'standby', number: 6 }),
      lastSeenAt: '2026-11-20T12:00:00.000Z',
    })
    app.advance(3_600_000)
    noteReport(app.ctx, report('two'), 'd')
    expect(await names()).toEqual(['one', 'three', 'two'])
    app.advance(1)
    expect(await names()).toEqual(['one', 'two'])
  })

  test('more machines than there can be do not fill the memory', async () => {
    for (let i = 0; i < 300; i += 1)
      noteReport(
        app.ctx,
        {
          ...{ name: `m${i}`, role: 'node', url: null, version: '1', epoch: 1, number: 1, lagMs: 0 },
          ...{ cacheBytes: 0, cacheHits: 0, cacheMisses: 0 },
        },
        'x',
      )
    const machines = (await machinesOf(app))['machines'] as MachineReport[]
    expect(machines).toHaveLength(101)
    expect(machines.some(({ name }) => name === 'm299')).toBe(true)
  })

  test('a store that is away is said, and what it held is still known', async () => {
    app.log.state = 'away'
    server.fault = () => ({ status: 500 })
    const { store } = await machinesOf(app)
    expect(store).toMatchObject({ status: 'error', error: 'no answer', objects: 1 })
  })
})

test('what a store holds is unknown until it has answered', async () => {
  const app = await storeApp()
  await app.addUser(ROOT, 'admin')
  const { store } = await machinesOf(app)
  expect(store).toMatchObject({ logBytes: null, baseAt: null, contentBytes: null, objects: null })
  app.close()
})
