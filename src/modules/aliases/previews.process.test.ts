import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDb } from '../../db/open.ts'
import { publishTar, shaOf } from '../../testing/publish-tar.ts'
import { makeDataDir, runSvc, startServer } from '../../testing/server-process.ts'
import { until } from '../../testing/until.ts'

const work = mkdtempSync(join(tmpdir(), 'svc-work-'))
const [first, second] = [makeDataDir(), makeDataDir()]
afterAll(() => {
  for (const dir of [first, second]) dir.remove()
  rmSync(work, { recursive: true })
})

type Row = { name: string; expiresAt: number | null }

/** The rows themselves: a request would end what is due. */
function rowsOf(dataDir: string): { aliases: Row[]; published: number } {
  const { sqlite } = openDb(join(dataDir, 'svc.db'), 0)
  const aliases = sqlite
    .query<Row, []>('SELECT name, expires_at AS expiresAt FROM aliases ORDER BY name')
    .all()
  const published = sqlite.query<{ n: number }, []>('SELECT count(*) AS n FROM preview_deployments').get()
  sqlite.close()
  return { aliases, published: published?.n ?? 0 }
}

test('a backup holds previews; a server that starts ends those whose time passed while none ran', async () => {
  const server = await startServer(first.path, {
    ADMIN_EMAIL: 'a@example.com',
    ADMIN_PASSWORD: 'long enough words',
  })
  const key = (await runSvc(['key', 'create', 'test', '--data-dir', first.path])).stdout.trim()
  for (const [i, target] of ['alias=live', 'preview=pr-1&pullRequest=1', 'preview=pr-2'].entries())
    expect(await publishTar(work, server, key, 'docs', shaOf(i), { 'index.html': String(i) }, target)).toBe(
      true,
    )
  const file = join(work, 'backup.tar')
  expect(await runSvc(['backup', file, '--data-dir', first.path])).toMatchObject({ code: 0 })
  server.signal('SIGTERM')
  await server.exited
  expect(await runSvc(['restore', file, '--data-dir', second.path])).toMatchObject({ code: 0 })
  expect(rowsOf(second.path)).toEqual(rowsOf(first.path))
  expect(rowsOf(second.path)).toMatchObject({
    aliases: [{ name: 'live' }, { name: 'pr-1' }, { name: 'pr-2' }],
    published: 2,
  })

  const { sqlite } = openDb(join(second.path, 'svc.db'), 0)
  sqlite.run("UPDATE aliases SET expires_at = 1 WHERE name = 'pr-1'")
  sqlite.close()
  expect(await runSvc(['check', '--data-dir', second.path])).toMatchObject({ code: 0 })
  const restored = await startServer(second.path)
  await until('the preview is gone', () => rowsOf(second.path).aliases.length === 2)
  expect(rowsOf(second.path)).toMatchObject({ aliases: [{ name: 'live' }, { name: 'pr-2' }], published: 1 })
  restored.signal('SIGTERM')
  expect(await restored.exited).toBe(0)
  expect(await runSvc(['check', '--data-dir', second.path])).toMatchObject({ code: 0 })
}, 60_000)
