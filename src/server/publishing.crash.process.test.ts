import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { publishTar, shaOf, type TarFiles } from '../testing/publish-tar.ts'
import { rounds } from '../testing/rounds.ts'
import { makeDataDir, runSvc, type ServerProcess, startServer } from '../testing/server-process.ts'

/** The real program is killed while clients publish, and started again. */
const work = mkdtempSync(join(tmpdir(), 'svc-work-'))
afterAll(() => rmSync(work, { recursive: true }))

test('kill -9 at any moment: acknowledged uploads survive, and every alias shows a complete deployment', async () => {
  const crash = makeDataDir()
  const acknowledged = new Map<string, TarFiles>()
  let running = await startServer(crash.path, {
    ADMIN_EMAIL: 'root@example.com',
    ADMIN_PASSWORD: 'correct horse battery',
  })
  const crashKey = (await runSvc(['key', 'create', 'test', '--data-dir', crash.path])).stdout.trim()
  for (let round = 0; round < rounds(8, 100); round++) {
    const { promise: acknowledgement, resolve } = Promise.withResolvers<void>()
    const uploads = Array.from({ length: 3 }, async (_, i) => {
      const files = Object.fromEntries(
        Array.from({ length: 40 }, (_, n) => [
          `f${n}.txt`,
          `round ${round} upload ${i} file ${n} ${'x'.repeat(n * 200)}`,
        ]),
      )
      const sha = shaOf(round * 10 + i)
      if (!(await publishTar(work, running, crashKey, 'crash', sha, files))) return
      acknowledged.set(sha, files)
      resolve()
    })
    // On a slow machine every kill may come before the first acknowledgement.
    if (round % 4 === 3) await Promise.race([acknowledgement, Promise.all(uploads)])
    else await Bun.sleep(Math.floor(((round * 37) % 100) + 1))
    running.signal('SIGKILL')
    await Promise.all([running.exited, ...uploads])
    running = await startServer(crash.path)
    await expectWhole(running, crashKey, acknowledged)
  }
  expect(acknowledged.size).toBeGreaterThan(0)
  running.signal('SIGTERM')
  expect(await running.exited).toBe(0)
  expect(await runSvc(['check', '--data-dir', crash.path])).toMatchObject({ code: 0 })
  crash.remove()
}, 3_600_000)

async function expectWhole(
  of: ServerProcess,
  apiKey: string,
  acknowledged: Map<string, TarFiles>,
): Promise<void> {
  const headers = { 'x-api-key': apiKey }
  const { data: aliases } = (await (
    await fetch(`${of.url}/api/aliases?owner=acme&repo=crash`, { headers })
  ).json()) as {
    data: { deploymentId: string }[]
  }
  for (const { deploymentId } of aliases) {
    const deployment = (await (
      await fetch(`${of.url}/api/deployments/${deploymentId}`, { headers })
    ).json()) as { fileCount: number }
    expect(deployment.fileCount).toBe(40)
  }
  for (const [sha, files] of [...acknowledged].slice(-4))
    for (const [path, content] of Object.entries(files)) {
      const answer = await fetch(`${of.url}/repo/acme/crash/${sha}/${path}`, { headers })
      expect(await answer.text()).toBe(content)
    }
}
