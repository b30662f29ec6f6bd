import { afterEach, expect, test } from 'bun:test'
import { type HookApp, hookApp } from '../../testing/hook-app.ts'
import { receiverOf } from './receiver.ts'

const opened: { close(): unknown }[] = []
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close()
})

async function setUp(): Promise<HookApp> {
  const hooks = await hookApp()
  opened.push(hooks)
  return hooks
}

test('a hook tells the origin of its address, and that of another as soon as it is given one', async () => {
  const hooks = await setUp()
  const { ctx } = hooks.app
  const hook = await hooks.make()
  const origin = new URL(hooks.receiver.url()).origin
  expect([receiverOf(ctx, hook.id), receiverOf(ctx, hook.id)]).toEqual([origin, origin])
  const url = hooks.receiver.url('/elsewhere', 'other.hooks.test')
  expect((await hooks.call('PATCH', hook.path, { url })).status).toBe(200)
  expect(receiverOf(ctx, hook.id)).toBe(new URL(url).origin)
  await hooks.call('DELETE', hook.path)
  expect(receiverOf(ctx, hook.id)).toBeUndefined()
})

test('an address that was sealed for another hook is a receiver of its own', async () => {
  const hooks = await setUp()
  const { ctx } = hooks.app
  const [mine, other] = [await hooks.make(), await hooks.make()]
  receiverOf(ctx, other.id)
  ctx.db.sqlite.run(
    'UPDATE webhooks SET sealed_url = (SELECT sealed_url FROM webhooks WHERE id = ?) WHERE id = ?',
    [other.id, mine.id],
  )
  expect(receiverOf(ctx, mine.id)).toBe(mine.id)
})
