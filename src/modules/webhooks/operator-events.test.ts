import { afterEach, expect, test } from 'bun:test'
import { DAY_MS, HOUR_MS } from '../../domain/durations.ts'
import { type HookApp, hookApp } from '../../testing/hook-app.ts'
import { until } from '../../testing/until.ts'
import { emptyRecord } from '../certificates/host-record.ts'
import { noteFailed } from '../certificates/notes.ts'
import { watchForHooks } from './watch.ts'

let hooks: HookApp
afterEach(() => hooks.close())

const setUp = async (env: Record<string, string> = {}) => {
  hooks = await hookApp(env)
  await hooks.make({}, '/api/webhooks')
}
const told = async () => {
  await hooks.send()
  return hooks.receiver.received.splice(0).map(({ body }) => {
    const { event, data }: { event: string; data: Record<string, unknown> } = JSON.parse(body)
    return [event, data]
  })
}

test('a backup that cannot be made is told of, and the next failure is not', async () => {
  await setUp({ BACKUP_DIR: '/dev/null/backups' })
  const { status, body } = await hooks.call('POST', '/api/backups')
  expect(status).toBe(500)
  let all: unknown[][] = []
  await until('it is told', async () => {
    all = [...all, ...(await told())]
    return all.length > 0
  })
  expect(all).toMatchObject([['backup.failed', { message: expect.any(String) }]])
  expect(String(body['message'])).toContain('The backup failed')
  await hooks.call('POST', '/api/backups')
  await Bun.sleep(0)
  expect(await told()).toEqual([])
})

test('a certificate that could not be issued is told of after the third failure', async () => {
  await setUp()
  const record = { ...emptyRecord('docs.example.com'), error: 'CAA' }
  const fail = (failures: number) =>
    noteFailed(hooks.app.ctx, { host: record.host, projectId: null }, { ...record, failures }, new Error('x'))
  fail(1)
  fail(2)
  expect(await told()).toEqual([])
  fail(3)
  fail(4)
  expect(await told()).toEqual([
    ['certificate.failing', { host: 'docs.example.com', expiresAt: null, error: 'CAA' }],
  ])
})

test('a certificate with less than 14 days left is told of once a day', async () => {
  await setUp()
  const { ctx } = hooks.app
  const at = ctx.now() + 15 * DAY_MS
  const certificate = { certPem: '', keyPem: '', notBefore: 0, expiresAt: at, hosts: ['a.example.com'] }
  ctx.certificates = { ...ctx.certificates, all: () => [certificate] }
  const watch = async () => {
    await watchForHooks(ctx, { aborted: false })
    return told()
  }
  expect(await watch()).toEqual([])
  hooks.app.advance(DAY_MS + HOUR_MS)
  expect(await watch()).toMatchObject([
    ['certificate.failing', { host: 'a.example.com', expiresAt: new Date(at).toISOString() }],
  ])
  expect(await watch()).toEqual([])
  hooks.app.advance(DAY_MS)
  expect(await watch()).toHaveLength(1)
})

test('an upload that is too large is told of', async () => {
  await setUp({ MAX_DEPLOYMENT_FILES: '1' })
  const body = new FormData()
  for (const [name, value] of Object.entries({ repository: 'acme/docs', commitSha: 'c'.repeat(40) }))
    body.append(name, value)
  for (const name of ['a.txt', 'b.txt']) body.append('files', new File(['x'], name))
  expect((await hooks.app.call('POST', '/api/deployments', { as: 'root@example.com', body })).status).toBe(
    413,
  )
  expect(await told()).toMatchObject([
    ['deployment.failed', { commitSha: 'c'.repeat(40), alias: null, error: { statusCode: 413 } }],
  ])
})
