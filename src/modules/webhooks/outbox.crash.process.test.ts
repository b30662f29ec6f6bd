import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type HookReceiver, hookReceiver, hookSettings } from '../../testing/hook-receiver.ts'
import { makeHook } from '../../testing/process-hook.ts'
import { publishTar, shaOf } from '../../testing/publish-tar.ts'
import { rounds } from '../../testing/rounds.ts'
import { makeDataDir, runSvc, startServer } from '../../testing/server-process.ts'
import { until } from '../../testing/until.ts'

/** The real program is killed while clients publish and hooks are told of it, and started again. */
const work = mkdtempSync(join(tmpdir(), 'svc-work-'))
const settings = hookSettings()
const ADMIN = { email: 'root@example.com', password: 'correct horse battery' }
let receiver: HookReceiver
beforeAll(async () => {
  receiver = await hookReceiver()
})
afterAll(async () => {
  await receiver.close()
  settings.remove()
  rmSync(work, { recursive: true })
})

const shas = (): Set<string> =>
  new Set(
    receiver.received.map(({ body }) => {
      const event: { data: { deployment: { commitSha: string } } } = JSON.parse(body)
      return event.data.deployment.commitSha
    }),
  )

test('kill -9 at any moment: of every acknowledged publish a delivery arrives, and of nothing else', async () => {
  const crash = makeDataDir()
  const env = { ...settings.env, WEBHOOK_RETRY_SECONDS: '0,0,0,0' }
  let running = await startServer(crash.path, {
    ...env,
    ADMIN_EMAIL: ADMIN.email,
    ADMIN_PASSWORD: ADMIN.password,
  })
  const hook = { url: receiver.url('/', '127.0.0.1'), events: ['deployment.created'] }
  await makeHook(running.url, ADMIN, hook)
  const key = (await runSvc(['key', 'create', 'test', '--data-dir', crash.path])).stdout.trim()
  const acknowledged = new Set<string>()
  for (let round = 0; round < rounds(3, 20); round++) {
    const { promise: first, resolve } = Promise.withResolvers<void>()
    const uploads = Array.from({ length: 3 }, async (_, i) => {
      const sha = shaOf(round * 10 + i)
      if (!(await publishTar(work, running, key, 'crash', sha, { 'index.html': sha }))) return
      acknowledged.add(sha)
      resolve()
    })
    if (round % 3 === 0) await Promise.race([first, Promise.all(uploads)])
    else await Bun.sleep(Math.floor(((round * 37) % 100) + 1))
    running.signal('SIGKILL')
    await Promise.all([running.exited, ...uploads])
    running = await startServer(crash.path, env)
  }
  await until('all acknowledged ones arrived', () => [...acknowledged].every((sha) => shas().has(sha)))
  expect(acknowledged.size).toBeGreaterThan(0)
  for (const sha of shas()) {
    const found = await fetch(`${running.url}/api/deployments?commitSha=${sha}`, {
      headers: { 'x-api-key': key },
    })
    expect((await found.json()) as object).toMatchObject({ pagination: { total: 1 } })
  }
  running.signal('SIGTERM')
  expect(await running.exited).toBe(0)
  expect(await runSvc(['check', '--data-dir', crash.path])).toMatchObject({ code: 0 })
  crash.remove()
}, 3_600_000)
