import { afterEach, expect, test } from 'bun:test'
import { inTransaction } from '../../db/open.ts'
import { DAY_MS, HOUR_MS } from '../../domain/durations.ts'
import { type Delivery, type HookApp, hookApp } from '../../testing/hook-app.ts'
import { hookReceiver } from '../../testing/hook-receiver.ts'
import { createTestCa } from '../../testing/test-ca.ts'
import { rawTlsBackend } from '../../testing/tls-backend.ts'
import { until } from '../../testing/until.ts'
import { startSending } from './dispatch.ts'
import { tellHooks } from './outbox.ts'
import { removeOldDeliveries } from './upkeep.ts'

const opened: { close(): unknown }[] = []
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close()
})

async function setUp(...options: Parameters<typeof hookApp>): Promise<HookApp> {
  const hooks = await hookApp(...options)
  opened.push(hooks)
  return hooks
}

/** Something happens in the project. */
const happen = ({ app, site }: HookApp, times = 1): void =>
  inTransaction(app.ctx.db, (tx) => {
    for (let i = 0; i < times; i += 1)
      tellHooks(app.ctx, tx, {
        event: 'user.invited',
        actor: { kind: 'operator' },
        projectId: site.projectId,
        data: () => ({ email: `${i}@example.com`, role: 'viewer' }),
      })
  })

const only = async (deliveries: Promise<Delivery[]>): Promise<Delivery> => {
  const [first, ...others] = await deliveries
  if (first === undefined || others.length > 0) throw new Error('there is not exactly one delivery')
  return first
}

test('a failed delivery is tried five times in all, with the waits of the setting', async () => {
  const hooks = await setUp({ WEBHOOK_RETRY_SECONDS: '1,2,3,4' })
  const hook = await hooks.make()
  hooks.receiver.answerWith((_request, response) => void response.writeHead(500).end('broken'))
  happen(hooks)
  for (const wait of [1, 2, 3, 4]) {
    await hooks.send()
    const { nextTryAt } = await only(hooks.deliveries(hook))
    const ms = Date.parse(nextTryAt ?? '') - hooks.app.ctx.now()
    expect(ms).toBeGreaterThanOrEqual(wait * 1000)
    expect(ms).toBeLessThanOrEqual(wait * 1100)
    await hooks.send()
    hooks.app.advance(ms)
  }
  await hooks.send()
  const { status, nextTryAt, tries } = await only(hooks.deliveries(hook))
  expect([status, nextTryAt, tries.length]).toEqual(['failed', null, 5])
  expect(tries[4]).toMatchObject({ status: 500, error: null, response: 'broken' })
  const ids = hooks.receiver.received.map(({ headers }) => headers['x-svc-delivery'])
  expect([ids.length, new Set(ids).size]).toEqual([5, 1])
  expect(new Set(hooks.receiver.received.map(({ body }) => body)).size).toBe(1)
})

const asked: [header: string, seconds: number][] = [
  ['30', 30],
  ['999999', 3600],
  ['1', 10],
  ['soon', 10],
  ['-5', 10],
]
test.each(asked)('a 429 with Retry-After: %s waits for %i s', async (header, seconds) => {
  const hooks = await setUp()
  const hook = await hooks.make()
  hooks.receiver.answerWith(
    (_request, response) => void response.writeHead(429, { 'retry-after': header }).end(),
  )
  happen(hooks)
  await hooks.send()
  const { nextTryAt } = await only(hooks.deliveries(hook))
  const ms = Date.parse(nextTryAt ?? '') - hooks.app.ctx.now()
  expect(ms).toBeGreaterThanOrEqual(seconds * 1000)
  expect(ms).toBeLessThanOrEqual(Math.max(seconds * 1000, 11_000))
})

test('410 ends the delivery and all others, and turns the hook off', async () => {
  const hooks = await setUp()
  const hook = await hooks.make()
  hooks.receiver.answerWith((_request, response) => void response.writeHead(410).end())
  happen(hooks)
  await hooks.send()
  happen(hooks)
  const { body } = await hooks.call('GET', hook.path)
  expect(body).toMatchObject({ isEnabled: false, disabledReason: 'gone', lastDelivery: { status: 'failed' } })
  await hooks.send()
  expect(hooks.receiver.received).toHaveLength(1)
  const audit = await hooks.call('GET', '/api/audit?action=webhook.off')
  expect(JSON.stringify(audit.body)).toContain('"webhook.off"')
  expect((await hooks.call('POST', `${hook.path}/test`)).body['error']).toBe('WEBHOOK_IS_OFF')
  await hooks.call('PATCH', hook.path, { isEnabled: true })
  expect((await hooks.call('GET', hook.path)).body).toMatchObject({ isEnabled: true, disabledReason: null })
})

test('a redirect, to this machine too, is a failure and not followed', async () => {
  const hooks = await setUp()
  const hook = await hooks.make()
  hooks.receiver.answerWith((_request, response) => {
    response.writeHead(302, { location: hooks.receiver.url('/secret') }).end()
  })
  happen(hooks)
  await hooks.send()
  expect(hooks.receiver.received.map(({ path }) => path)).toEqual(['/hook'])
  const { tries } = await only(hooks.deliveries(hook))
  expect(tries[0]).toMatchObject({ status: 302, error: 'Redirects are not followed' })
})

test('of an answer without end the first 1000 characters are kept, and the rest is not read', async () => {
  const hooks = await setUp()
  const hook = await hooks.make()
  let sent = 0
  hooks.receiver.answerWith((_request, response) => {
    response.writeHead(200, { 'content-length': 2 ** 30 })
    const more = (): void => {
      while (!response.destroyed && sent < 2 ** 30) {
        sent += 65_536
        if (!response.write('é'.repeat(32_768))) return void response.once('drain', more)
      }
    }
    more()
  })
  happen(hooks)
  await hooks.send()
  const { status, tries } = await only(hooks.deliveries(hook))
  expect([status, tries[0]?.response]).toEqual(['delivered', 'é'.repeat(1000)])
  expect(sent).toBeLessThan(2 ** 26)
})

test('an answer that echoes the request shows neither the values of own headers nor the secret', async () => {
  const hooks = await setUp()
  const long = 'L0ng'.repeat(1000)
  const hook = await hooks.make({
    headers: { Authorization: 'Bearer t0k3n-of-the-chat', 'X-Long': long, 'X-Env': 'prod' },
  })
  hooks.receiver.answerWith(({ headers }, response) =>
    response.end(`prod ${headers.authorization} t0k3n-of-the-chat ${hook.secret} ${long} ${long}`),
  )
  happen(hooks)
  await hooks.send()
  const { status, tries } = await only(hooks.deliveries(hook))
  const { response = '' } = tries[0] ?? {}
  expect([status, response.length, response.slice(0, 7)]).toEqual(['delivered', 1000, 'prod **'])
  expect(response.replace(/^prod/, '')).toMatch(/^[* ]+$/)
})

test('a reset, a bad certificate and a name that does not resolve fail with their reasons', async () => {
  const hooks = await setUp()
  const stranger = await hookReceiver(createTestCa('Strange CA').issue({ names: ['hooks.test'] }))
  const resetting = await rawTlsBackend(createTestCa().issue({ names: ['hooks.test'] }), (socket) =>
    socket.destroy(),
  )
  opened.push(stranger, resetting)
  const urls = [
    stranger.url(),
    `https://hooks.test:${resetting.port}/`,
    'https://nowhere.example/',
    hooks.receiver.url('/', 'other.test'),
  ]
  const made = await Promise.all(urls.map((url) => hooks.make({ url })))
  happen(hooks)
  await hooks.send()
  for (const hook of made) {
    const { status, tries } = await only(hooks.deliveries(hook))
    expect([status, tries[0]?.status]).toEqual(['pending', null])
    expect(tries[0]?.error).toBeTruthy()
  }
  expect([stranger.received, hooks.receiver.received]).toEqual([[], []])
})

test('a name that leads to a private address by the time it is sent is not asked', async () => {
  let isRebound = false
  const resolve = async () => {
    if (isRebound) return ['10.0.0.1']
    throw new Error('not yet')
  }
  const hooks = await setUp({}, { resolve })
  const hook = await hooks.make({ url: 'https://rebinds.example/' })
  isRebound = true
  // The failure to resolve is remembered for a second.
  await Bun.sleep(1100)
  const { body } = await hooks.call('POST', `${hook.path}/test`)
  expect(body).toMatchObject({
    status: 'failed',
    tries: [
      {
        status: null,
        error: 'rebinds.example leads to an address that is neither public nor an allowed target',
      },
    ],
  })
})

test('without TLS a target is asked only where the operator names it', async () => {
  const plain = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('ok') })
  opened.push({ close: () => plain.stop(true) })
  const hooks = await setUp()
  const hook = await hooks.make({ url: `http://plain.test:${plain.port}/` })
  expect((await hooks.call('POST', `${hook.path}/test`)).body).toMatchObject({
    status: 'delivered',
    tries: [{ status: 200, response: 'ok' }],
  })
})

test('a receiver that hangs or trickles is given up, and one that trickles its body has it', async () => {
  const hooks = await setUp()
  hooks.receiver.answerWith(({ path }, response) => {
    if (path === '/hangs') return
    response.writeHead(200).flushHeaders()
    const timer = setInterval(() => response.write('.'), 100)
    response.on('close', () => clearInterval(timer))
  })
  const trickling = await rawTlsBackend(hooks.receiver.certificate, (socket) => {
    const timer = setInterval(() => socket.write('H'), 1000)
    socket.on('close', () => clearInterval(timer))
  })
  opened.push(trickling)
  const hangs = await hooks.make({ url: hooks.receiver.url('/hangs') })
  const head = await hooks.make({ url: `https://hooks.test:${trickling.port}/` })
  const body = await hooks.make({ url: hooks.receiver.url('/body') })
  happen(hooks)
  await hooks.send()
  for (const hook of [hangs, head]) {
    const { status, tries } = await only(hooks.deliveries(hook))
    expect([status, tries[0]?.status]).toEqual(['pending', null])
    expect(tries[0]?.error).toBeTruthy()
  }
  const { status, tries } = await only(hooks.deliveries(body))
  expect([status, tries[0]?.response.startsWith('....')]).toEqual(['delivered', true])
})

test('a receiver that hangs gets two requests at once and delays nobody else', async () => {
  const hooks = await setUp()
  const slow = await hookReceiver()
  opened.push(slow)
  const held: (() => void)[] = []
  slow.answerWith((_request, response) => void held.push(() => response.writeHead(204).end()))
  const hanging = await hooks.make({ url: slow.url() })
  const quick = await hooks.make()
  const stop = startSending(hooks.app.ctx)
  happen(hooks, 20)
  await until('the quick one has all', async () => hooks.receiver.received.length === 20)
  expect(slow.received).toHaveLength(2)
  await until('both are written down', async () =>
    (await hooks.deliveries(quick)).every(({ status }) => status === 'delivered'),
  )
  expect((await hooks.deliveries(hanging)).every(({ status }) => status === 'pending')).toBe(true)
  slow.answerWith((_request, response) => void response.writeHead(204).end())
  for (const answer of held) answer()
  await until('the rest follows', async () => slow.received.length === 20)
  await stop()
})

test('at most eight requests are under way', async () => {
  const hooks = await setUp()
  const held: (() => void)[] = []
  hooks.receiver.answerWith((_request, response) => void held.push(() => response.writeHead(204).end()))
  for (let i = 0; i < 6; i += 1) {
    const one = await hookReceiver()
    opened.push(one)
    one.answerWith((_request, response) => void held.push(() => response.writeHead(204).end()))
    await hooks.make({ url: one.url() })
  }
  const stop = startSending(hooks.app.ctx)
  happen(hooks, 4)
  await until('eight', () => held.length === 8)
  let answered = 0
  while (answered < 24) {
    expect(held.length - answered).toBeLessThanOrEqual(8)
    const next = held[answered]
    if (next === undefined) await Bun.sleep(1)
    else {
      next()
      answered += 1
    }
  }
  await stop()
})

test('of more than 1000 that wait the oldest fail as dropped', async () => {
  const hooks = await setUp()
  const hook = await hooks.make()
  happen(hooks, 1003)
  const { body } = await hooks.call('GET', `${hook.path}/deliveries?status=failed&order=asc`)
  const failed = body['data'] as Delivery[]
  expect(failed.map(({ tries }) => tries[0]?.error)).toEqual(['dropped', 'dropped', 'dropped'])
  const text = await (await hooks.app.call('GET', '/metrics')).text()
  expect(text).toContain('svc_webhook_pending 1000\n')
  expect(text).toContain('svc_webhook_deliveries_total{result="dropped"} 3\n')
})

test('a turned-off and a deleted hook send nothing more', async () => {
  const hooks = await setUp()
  const off = await hooks.make()
  const gone = await hooks.make()
  happen(hooks)
  await hooks.call('PATCH', off.path, { isEnabled: false })
  expect((await hooks.call('DELETE', gone.path)).status).toBe(204)
  await hooks.send()
  await hooks.call('PATCH', off.path, { isEnabled: true })
  await hooks.send()
  expect(hooks.receiver.received).toEqual([])
  expect((await only(hooks.deliveries(off))).tries[0]?.error).toBe('turned off')
})

test('the hooks of a deleted project send nothing more', async () => {
  const hooks = await setUp()
  await hooks.make()
  happen(hooks)
  expect((await hooks.call('DELETE', `/api/projects/${hooks.site.projectId}`)).status).toBe(204)
  await hooks.send()
  expect(hooks.receiver.received).toEqual([])
  const left = hooks.app.ctx.db.sqlite.query('SELECT 1 FROM webhooks').all()
  expect(left).toEqual([])
})

test('a delivery is sent again with five tries more, and is the same one', async () => {
  const hooks = await setUp({ WEBHOOK_RETRY_SECONDS: '0,0,0,0' })
  const hook = await hooks.make()
  hooks.receiver.answerWith((_request, response) => void response.writeHead(503).end())
  happen(hooks)
  await hooks.send()
  const failed = await only(hooks.deliveries(hook))
  expect([failed.status, failed.tries.length]).toEqual(['failed', 5])
  const again = await hooks.call('POST', `${hook.path}/deliveries/${failed.id}/resend`)
  expect([again.status, again.body['status']]).toEqual([202, 'pending'])
  await hooks.send()
  expect((await only(hooks.deliveries(hook))).tries).toHaveLength(10)
  hooks.receiver.answerWith((_request, response) => void response.writeHead(200).end('ok'))
  await hooks.call('POST', `${hook.path}/deliveries/${failed.id}/resend`)
  await hooks.send()
  const { id, status, tries } = await only(hooks.deliveries(hook))
  expect([id, status, tries.at(-1)?.response]).toEqual([failed.id, 'delivered', 'ok'])
})

test('a test is one try that is answered with what came of it', async () => {
  const hooks = await setUp()
  const hook = await hooks.make({ events: ['preview.ended'] })
  const good = await hooks.call('POST', `${hook.path}/test`)
  expect([good.status, good.body]).toMatchObject([200, { event: 'ping', status: 'delivered' }])
  hooks.receiver.answerWith((_request, response) => void response.writeHead(404).end('nothing here'))
  const bad = await hooks.call('POST', `${hook.path}/test`)
  expect(bad.body).toMatchObject({
    status: 'failed',
    nextTryAt: null,
    tries: [{ status: 404, response: 'nothing here' }],
  })
})

test('what ended is kept 30 days, and the newest 1000 of a hook', async () => {
  const hooks = await setUp()
  const hook = await hooks.make()
  happen(hooks)
  await hooks.send()
  hooks.app.advance(31 * DAY_MS)
  await hooks.app.addUser('later@example.com', 'admin')
  happen(hooks, 5)
  await removeOldDeliveries(hooks.app.ctx)
  const count = (sql: string) => hooks.app.ctx.db.sqlite.query<{ n: number }, []>(sql).get()?.n
  expect(count('SELECT count(*) AS n FROM webhook_deliveries')).toBe(5)
  expect(count('SELECT count(*) AS n FROM webhook_events')).toBe(5)
  inTransaction(
    hooks.app.ctx.db,
    () =>
      void hooks.app.ctx.db.sqlite.run(`UPDATE webhook_deliveries SET status = 'failed', next_try_at = NULL`),
  )
  happen(hooks, 999)
  await removeOldDeliveries(hooks.app.ctx)
  expect(count('SELECT count(*) AS n FROM webhook_deliveries')).toBe(1000)
  expect(hook.id).toBeTruthy()
  hooks.app.advance(HOUR_MS)
})

test('what is under way when the server stops waits for its next start', async () => {
  const hooks = await setUp()
  const hook = await hooks.make()
  hooks.receiver.answerWith(() => {})
  happen(hooks)
  const stop = startSending(hooks.app.ctx)
  await until('it is asked', () => hooks.receiver.received.length === 1)
  await stop()
  const { status, tries } = await only(hooks.deliveries(hook))
  expect([status, tries]).toEqual(['pending', []])
})
