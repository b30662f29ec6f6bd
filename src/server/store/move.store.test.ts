import { afterEach, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FIRST_ADMIN } from '../../testing/full-disk.ts'
import { publishTar, shaOf, type TarFiles } from '../../testing/publish-tar.ts'
import { onRealStore } from '../../testing/real-store.ts'
import { runSvc, type ServerProcess, startServer } from '../../testing/server-process.ts'
import type { OnStore } from '../../testing/store-process.ts'

/** contract 18 §1 on a real store: a workspace moves into it, and out of it. */

const SITES: readonly TarFiles[] = [
  { 'index.html': '<h1>one</h1>', 'large.txt': 'a line of a large text\n'.repeat(200_000) },
  Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`${n}.txt`, `${n} `.repeat(n * 5)])),
]

let at: OnStore
let running: ServerProcess | undefined
let key: string
const work = mkdtempSync(join(tmpdir(), 'svc-work-'))
afterEach(async () => {
  running?.signal('SIGKILL')
  await running?.exited
  await at.remove()
  rmSync(work, { recursive: true })
})

async function stop(server: ServerProcess): Promise<void> {
  server.signal('SIGTERM')
  expect(await server.exited).toBe(0)
}

/** The paths whose bytes are not what was published. */
async function wrong({ url }: ServerProcess): Promise<string[]> {
  const found: string[] = []
  for (const [i, files] of SITES.entries())
    for (const [path, text] of Object.entries(files)) {
      const answer = await fetch(`${url}/repo/acme/site${i}/alias/live/${path}`, {
        headers: { 'x-api-key': key },
      })
      if ((await answer.text()) !== text) found.push(`site${i}/${path} ${answer.status}`)
    }
  return found
}

test('push, status, check, a server on it, a lost machine, restore: the same workspace each time', async () => {
  at = await onRealStore()
  const secret = { SECRET_KEY: at.env['SECRET_KEY'] ?? '' }
  const local = await startServer(at.dataDir, { ...secret, ...FIRST_ADMIN })
  running = local
  key = (await runSvc(['key', 'create', 'test', '--data-dir', at.dataDir], { env: secret })).stdout.trim()
  for (const [i, files] of SITES.entries())
    expect(await publishTar(work, local, key, `site${i}`, shaOf(i), files)).toBe(true)
  expect(await at.svc(['store', 'push'])).toMatchObject({ code: 1 })
  await stop(local)

  expect(await at.svc(['serve'])).toMatchObject({
    code: 78,
    stderr: expect.stringContaining('svc store push'),
  })
  expect(await at.svc(['store', 'push'])).toMatchObject({ code: 0 })
  const again = await at.svc(['store', 'push'])
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('database')])
  const status = JSON.parse((await at.svc(['store', 'status', '--json'])).stdout)
  expect(status).toMatchObject({ format: 'ltx', log: { last: expect.any(Number) }, primary: null })
  expect(status.contents.bytes).toBeGreaterThan(4_000_000)
  for (const more of [[], ['--quick']])
    expect(await at.svc(['store', 'check', ...more])).toMatchObject({ code: 0 })
  expect(await at.svc(['store', 'push', '--remove-local'])).toMatchObject({ code: 0 })
  const kept = readdirSync(join(at.dataDir, 'blobs'), { recursive: true, withFileTypes: true })
  expect(kept.filter((entry) => entry.isFile())).toEqual([])

  running = await at.start()
  expect(await wrong(running)).toEqual([])
  await at.lose(running)
  running = await at.start()
  expect(await wrong(running)).toEqual([])
  expect(await publishTar(work, running, key, 'late', shaOf(9), { 'index.html': 'late' })).toBe(true)

  // The store is in use meanwhile, and is not changed.
  const restored = join(work, 'restored')
  const store = at.env['STORE_URL'] ?? ''
  expect(await at.svc(['restore', store, '--data-dir', restored])).toMatchObject({ code: 0 })
  await stop(running)
  running = await startServer(restored, secret)
  expect(await wrong(running)).toEqual([])
  const late = await fetch(`${running.url}/repo/acme/late/alias/live/index.html`, {
    headers: { 'x-api-key': key },
  })
  expect(await late.text()).toBe('late')
}, 300_000)
