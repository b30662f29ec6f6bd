import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { publishTar, shaOf, type TarFiles } from '../../testing/publish-tar.ts'
import { runSvc, startServer } from '../../testing/server-process.ts'
import { newKey, storeProcess } from '../../testing/store-process.ts'

/** contract 18 §1: a backup has all contents, read from the store. */
const work = mkdtempSync(join(tmpdir(), 'svc-work-'))
afterAll(() => rmSync(work, { recursive: true }))

const FILES: TarFiles = { 'index.html': 'small', 'large.txt': 'x'.repeat(3_000_000) }

test('a backup of a workspace in a store has what this machine has no copy of; a content that is gone fails it', async () => {
  const at = await storeProcess()
  const server = await at.start()
  const key = await newKey(at)
  expect(await publishTar(work, server, key, 'docs', shaOf(1), FILES)).toBe(true)
  rmSync(join(at.dataDir, 'blobs'), { recursive: true })
  const file = join(work, 'backup.tar')
  const made = await at.svc(['backup', file])
  expect([made.code, made.stderr]).toEqual([0, expect.stringContaining('wrote')])
  const dataDir = join(work, 'restored')
  const secret = { SECRET_KEY: at.env['SECRET_KEY'] ?? '' }
  const restored = await runSvc(['restore', file], { env: { ...secret, DATA_DIR: dataDir } })
  expect([restored.code, restored.stderr]).toEqual([0, expect.stringContaining('restored')])
  expect((await runSvc(['check'], { env: { ...secret, DATA_DIR: dataDir } })).stdout).not.toContain(
    'content_',
  )
  const own = await startServer(dataDir, secret)
  for (const [path, text] of Object.entries(FILES)) {
    const answer = await fetch(`${own.url}/repo/acme/docs/${shaOf(1)}/${path}`, {
      headers: { 'x-api-key': key },
    })
    expect(await answer.text()).toBe(String(text))
  }
  for (const name of at.store.objects.keys()) if (name.includes('/files/')) at.store.objects.delete(name)
  const failed = await at.svc(['backup', join(work, 'second.tar')])
  expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining('files/')])
  for (const one of [server, own]) {
    one.signal('SIGTERM')
    await one.exited
  }
  await at.remove()
}, 120_000)
