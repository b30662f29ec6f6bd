import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { Observed } from '../../db/request-log/row.ts'
import type { MachineView } from '../../modules/machines/model.ts'
import { MAX_REPORT_BYTES, REPORT_PATH } from '../../modules/machines/report.ts'
import { sha256 } from '../../platform/object-store/sign.ts'
import { ask } from '../../testing/ask.ts'
import { type StoreApp, storeApp } from '../../testing/store-app.ts'
import { HandOver } from './hand-over.ts'
import { MACHINE_HEADER, machineKeys, signForwarded, signMachine } from './machine-header.ts'
import { PrimaryLine } from './primary-line.ts'
import { report } from './reporting.ts'

/** contract 18 §6: followers hand their request-log rows to the primary, and say how they are. */
const NODE_SECRET = 'n'.repeat(32)
const ROOT = 'root@example.com'
const keys = machineKeys(NODE_SECRET)
let primary: StoreApp
beforeEach(async () => {
  primary = await storeApp({ NODE_SECRET, MACHINE_NAME: 'one', MACHINE_URL: 'http://127.0.0.1:1' })
  await primary.addUser(ROOT, 'admin')
})
afterEach(() => primary.close())

const row = (more: Partial<Observed> = {}): Observed => ({
  ...{ at: primary.ctx.now(), projectId: null, method: 'GET', host: 'docs.example', path: '/a', status: 200 },
  ...{ durationMs: 1.5, sizeBytes: 10, referrer: null, linkedFrom: null, userAgent: 'Firefox' },
  ...{ address: '203.0.113.9', isPage: false, weight: 1, ...more },
})
const machine = {
  ...{ name: 'two', role: 'standby', url: 'http://10.0.0.2:80', version: '1.0.0', epoch: 3, number: 6 },
  ...{ lagMs: 40, cacheBytes: 1, cacheHits: 2, cacheMisses: 3 },
}
const body = (more: Record<string, unknown> = {}): string =>
  JSON.stringify({ machine, batch: 'b1', rows: [row()], dropped: 0, ...more })

type Sending = { name?: string; target?: string; header?: (target: string) => string }
function send(text: string, { name = 'two', target, header }: Sending = {}): Promise<Response> {
  const at = target ?? `${REPORT_PATH}?sha256=${sha256(new TextEncoder().encode(text))}`
  const signed = () => signMachine(keys, name, { at: primary.ctx.now(), method: 'POST', target: at })
  const headers = { [MACHINE_HEADER]: (header ?? signed)(at), host: '10.0.0.1:8080' }
  const request = new Request(`http://10.0.0.1:8080${at}`, { method: 'POST', headers, body: text })
  return Promise.resolve(primary.app.fetch(request, { address: '10.0.0.2' }))
}

const machines = async () =>
  (await ask(primary, 'GET', '/api/machines', { as: ROOT })).body['machines'] as MachineView[]
const logged = async (query = '') =>
  ((await ask(primary, 'GET', `/api/logs?host=docs.example${query}`, { as: ROOT })).body['data'] ?? []) as {
    path: string
    visitor: string | null
  }[]

describe('the primary', () => {
  test('lists the machine, and its requests are those of the workspace', async () => {
    expect((await send(body())).status).toBe(204)
    expect((await machines())[1]).toEqual({
      ...machine,
      lastSeenAt: '2026-11-20T12:00:00.000Z',
    } as MachineView)
    expect(await logged()).toMatchObject([{ path: '/a', visitor: expect.any(String) }])
    const { body: analytics } = await ask(primary, 'GET', '/api/analytics', { as: ROOT })
    expect(analytics['totals']).toMatchObject({ bytes: 10 })
  })

  test('counts no request as its own', async () => {
    await send(body({ rows: [row({ status: 418, weight: 64 })] }))
    const text = await (await primary.call('GET', '/metrics')).text()
    expect(text).not.toContain('status="418"')
  })

  test('takes what is sent again once', async () => {
    await send(body())
    await send(body())
    await send(body({ batch: 'b2' }))
    expect(await logged()).toHaveLength(2)
  })

  test('counts what the machine had to drop', async () => {
    await send(body({ dropped: 7 }))
    await send(body({ batch: 'b2', dropped: 2, rows: [row({ at: primary.ctx.now() + 600_000, weight: 8 })] }))
    expect(primary.ctx.requestLog.counts().dropped).toBe(17)
    expect(await logged()).toHaveLength(1)
  })

  const hostile: [what: string, text: () => string][] = [
    ['no JSON', () => 'rows'],
    ['an array', () => '[]'],
    ['no machine', () => body({ machine: undefined })],
    ['another machine than has signed', () => body({ machine: { ...machine, name: 'three' } })],
    ['a machine that says that it is the primary', () => body({ machine: { ...machine, role: 'primary' } })],
    ['a name on two lines', () => body({ machine: { ...machine, name: 'a\nb' } })],
    ['an address that runs', () => body({ machine: { ...machine, url: 'javascript:alert(1)' } })],
    ['numbers below 0', () => body({ machine: { ...machine, lagMs: -1 } })],
    ['a row that is none', () => body({ rows: [null] })],
    ['a row of another project than there can be', () => body({ rows: [row({ projectId: '../x' })] })],
    ['a status that is none', () => body({ rows: [row({ status: 1e9 })] })],
    ['a weight of a million', () => body({ rows: [row({ weight: 1e6 })] })],
    ['a path that is too long', () => body({ rows: [row({ path: 'x'.repeat(4097) })] })],
    ['more rows than are taken', () => body({ rows: Array(10_001).fill(null) })],
  ]
  test.each(hostile)('refuses %s, and keeps nothing of it', async (_what, text) => {
    expect((await send(text())).status).toBe(400)
    expect(await machines()).toHaveLength(1)
    expect(await logged()).toEqual([])
  })

  test('refuses another body than was signed, and one without end', async () => {
    const target = `${REPORT_PATH}?sha256=${sha256(new TextEncoder().encode(body()))}`
    expect((await send(body({ dropped: 1 }), { target })).status).toBe(400)
    expect((await send(' '.repeat(MAX_REPORT_BYTES + 1))).status).toBe(413)
  })

  const strangers: [what: string, header: (target: string) => string][] = [
    ['nobody has signed', () => 'x'],
    [
      'another secret has signed',
      (target) =>
        signMachine(machineKeys('m'.repeat(32)), 'two', { at: primary.ctx.now(), method: 'POST', target }),
    ],
    [
      'was signed 31 s ago',
      (target) => signMachine(keys, 'two', { at: primary.ctx.now() - 31_000, method: 'POST', target }),
    ],
    [
      'a visitor had a machine sign',
      (target) =>
        signForwarded(
          keys,
          { address: '203.0.113.9', isSecure: false, hostHeader: 'localhost', machines: [] },
          { at: primary.ctx.now(), method: 'POST', target },
        ),
    ],
  ]
  test.each(strangers)('knows no address for what %s', async (_what, header) => {
    const answer = await send(body(), { header })
    expect(answer.status).toBe(404)
    expect(await machines()).toHaveLength(1)
    expect(await logged()).toEqual([])
  })
})

describe('a machine that follows', () => {
  let server: Bun.Server<undefined>
  let follower: StoreApp
  let origin: string | null
  const line = new PrimaryLine(null)
  beforeEach(async () => {
    server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: (request) => primary.app.fetch(request, { address: '127.0.0.1' }),
    })
    origin = `http://127.0.0.1:${server.port}`
    follower = await storeApp({ NODE_SECRET, MACHINE_NAME: 'two', MACHINE_URL: 'http://127.0.0.1:2' })
    Object.assign(follower.ctx.machine ?? {}, {
      name: 'two',
      role: () => 'standby',
      primary: () => ({ name: 'one', url: origin }),
    })
  })
  afterEach(async () => {
    line.close()
    follower.close()
    await server.stop(true)
  })

  const reporting = (handOver: HandOver) => {
    const { machine: self } = follower.ctx
    if (self === null) throw new Error('no machine')
    return report(follower.ctx, { machine: self, keys, line, handOver, timeoutMs: 2_000 })
  }
  const handingOver = () => {
    const handOver = new HandOver(() => Bun.randomUUIDv7())
    follower.ctx.requestLog.handOver((rows) => handOver.add(rows))
    return handOver
  }
  const visit = (path: string) => follower.ctx.requestLog.take(row({ path }))

  test('hands over what it logged, while it keeps its own', async () => {
    const handOver = handingOver()
    visit('/one')
    visit('/two')
    await reporting(handOver)
    expect((await logged()).map(({ path }) => path).sort()).toEqual(['/one', '/two'])
    expect((await machines())[1]).toMatchObject({ name: 'two', role: 'standby', number: 7 })
    expect(handOver.isEmpty).toBe(true)
    expect(follower.ctx.requestLog.db.sqlite.query('SELECT count(*) AS n FROM requests').get()).toEqual({
      n: 2,
    })
  })

  test('keeps what does not arrive for the next time', async () => {
    const handOver = handingOver()
    visit('/one')
    const there = origin
    for (const away of [null, 'http://127.0.0.1:1']) {
      origin = away
      await reporting(handOver)
    }
    origin = there
    visit('/two')
    await reporting(handOver)
    expect((await logged()).map(({ path }) => path).sort()).toEqual(['/one', '/two'])
  })

  test('sends many rows in several reports', async () => {
    const handOver = new HandOver(() => Bun.randomUUIDv7())
    const rows = Array.from({ length: 600 }, (_, i) => row({ path: `/${i}/${'x'.repeat(4000)}` }))
    handOver.add(rows)
    await reporting(handOver)
    expect(handOver.isEmpty).toBe(true)
    primary.ctx.requestLog.flush()
    const { sqlite } = primary.ctx.requestLog.db
    expect(sqlite.query('SELECT count(*) AS n FROM requests').get()).toEqual({ n: 600 })
  })

  test('drops what finds no room, and says how many', async () => {
    const handOver = new HandOver(() => 'b')
    const rows = Array.from({ length: 3_000 }, () => row({ path: `/${'x'.repeat(4000)}`, weight: 2 }))
    handOver.add(rows)
    const { rows: first, dropped } = handOver.next()
    expect(first.join().length).toBeLessThan(MAX_REPORT_BYTES - 50_000)
    expect(dropped).toBeGreaterThan(0)
    let arrived = first.length
    for (handOver.arrived(); !handOver.isEmpty; handOver.arrived()) arrived += handOver.next().rows.length
    expect(arrived * 2 + dropped).toBe(6_000)
    handOver.add(rows.slice(0, 1))
    expect(handOver.next().rows).toHaveLength(1)
  })
})
