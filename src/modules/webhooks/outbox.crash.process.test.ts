import { expect, test } from 'bun:test'
import { crashWithHook } from '../../testing/crash-with-hook.ts'
import { publishTar, shaOf } from '../../testing/publish-tar.ts'
import { rounds } from '../../testing/rounds.ts'
import { runSvc } from '../../testing/server-process.ts'
import { until } from '../../testing/until.ts'

/** The real program is killed while clients publish and hooks are told of it, and started again. */
const lab = crashWithHook()

const shas = (): Set<string> =>
  new Set(
    lab.receiver().received.map(({ body }) => {
      const event: { data: { deployment: { commitSha: string } } } = JSON.parse(body)
      return event.data.deployment.commitSha
    }),
  )

test('kill -9 at any moment: of every acknowledged publish a delivery arrives, and of nothing else', async () => {
  const crash = await lab.start(['deployment.created'])
  let { running } = crash
  const acknowledged = new Set<string>()
  for (let round = 0; round < rounds(3, 20); round++) {
    const { promise: first, resolve } = Promise.withResolvers<void>()
    const uploads = Array.from({ length: 3 }, async (_, i) => {
      const sha = shaOf(round * 10 + i)
      if (!(await publishTar(lab.work, running, crash.key, 'crash', sha, { 'index.html': sha }))) return
      acknowledged.add(sha)
      resolve()
    })
    if (round % 3 === 0) await Promise.race([first, Promise.all(uploads)])
    else await Bun.sleep(Math.floor(((round * 37) % 100) + 1))
    running.signal('SIGKILL')
    await Promise.all([running.exited, ...uploads])
    running = await crash.start()
  }
  await until('all acknowledged ones arrived', () => [...acknowledged].every((sha) => shas().has(sha)))
  expect(acknowledged.size).toBeGreaterThan(0)
  for (const sha of shas()) {
    const found = await fetch(`${running.url}/api/deployments?commitSha=${sha}`, {
      headers: { 'x-api-key': crash.key },
    })
    expect((await found.json()) as object).toMatchObject({ pagination: { total: 1 } })
  }
  running.signal('SIGTERM')
  expect(await running.exited).toBe(0)
  expect(await runSvc(['check', '--data-dir', crash.dataDir])).toMatchObject({ code: 0 })
  crash.remove()
}, 3_600_000)
