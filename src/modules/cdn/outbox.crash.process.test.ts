import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cdnReceiver } from '../../testing/cdn-receiver.ts'
import { publishTar, shaOf } from '../../testing/publish-tar.ts'
import { rounds } from '../../testing/rounds.ts'
import { makeDataDir, runSvc, startServer } from '../../testing/server-process.ts'
import { until } from '../../testing/until.ts'

test('kill -9 with purges waiting: each acknowledged move is sent after the start', async () => {
  const data = makeDataDir()
  const work = mkdtempSync(join(tmpdir(), 'svc-cdn-'))
  const cdn = await cdnReceiver()
  const env = { CDN_KIND: 'varnish', CDN_URL: cdn.url }
  let running = await startServer(data.path, {
    ...env,
    ADMIN_EMAIL: 'root@example.com',
    ADMIN_PASSWORD: 'correct horse battery',
  })
  const key = (await runSvc(['key', 'create', 'test', '--data-dir', data.path])).stdout.trim()
  for (let round = 1; round <= rounds(3, 20); round++) {
    cdn.answerWith((response) => void response.destroy())
    const isMoved = await publishTar(work, running, key, 'docs', shaOf(round), { 'a.txt': `${round}` })
    expect(isMoved).toBe(true)
    running.signal('SIGKILL')
    await running.exited
    cdn.received.length = 0
    cdn.answerWith((response) => void response.writeHead(200).end())
    running = await startServer(data.path, env)
    const keys = () => cdn.received.flatMap((one) => one.keys)
    await until(
      'the key of the alias is sent, twice',
      () => keys().filter((one) => one.startsWith('a-')).length >= 2,
    )
  }
  running.signal('SIGTERM')
  expect(await running.exited).toBe(0)
  await cdn.close()
  data.remove()
  rmSync(work, { recursive: true })
}, 3_600_000)
