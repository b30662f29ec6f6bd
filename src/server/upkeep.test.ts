import { expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { operatorGrant } from '../modules/auth/authorize.ts'
import { waitForVariants } from '../modules/deployments/variants.ts'
import { deleteProject } from '../modules/projects/service.ts'
import { seedDeployment } from '../testing/seed.ts'
import { testApp } from '../testing/test-app.ts'
import { startUpkeep } from './upkeep.ts'

test('an unwritable backup folder is reported at the start, not only when a backup is due', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'svc-upkeep-')), 'file')
  writeFileSync(file, '')
  const app = await testApp({ BACKUP_DIR: join(file, 'backups') })
  await startUpkeep(app.ctx)()
  expect(app.lines.join('')).toContain('BACKUP_DIR cannot be written')
  expect(app.lines.join('')).toContain('ENOTDIR')
  app.close()
  rmSync(dirname(file), { recursive: true })
})

test('a start removes leftovers of a crash and continues pending work; stopping ends both', async () => {
  const app = await testApp()
  const { host } = await seedDeployment(app, {
    owner: 'acme',
    repo: 'docs',
    sha: 'a'.repeat(40),
    files: { 'app.js': 'some words '.repeat(500) },
  })
  const { projectId } = await seedDeployment(app, {
    owner: 'acme',
    repo: 'old',
    sha: 'b'.repeat(40),
    files: { 'index.html': 'x' },
  })
  const { sqlite } = app.ctx.db
  sqlite.run("CREATE TRIGGER crash BEFORE DELETE ON deployments BEGIN SELECT RAISE(ABORT, 'crash'); END")
  await deleteProject(app.ctx, operatorGrant(projectId))
  sqlite.run('DROP TRIGGER crash')
  const leftover = join(app.ctx.config.dataDir, 'blobs', 'packs', 'left-over.pack')
  writeFileSync(leftover, 'x')

  const stop = startUpkeep(app.ctx)
  await waitForVariants(app.ctx)
  while (sqlite.query('SELECT 1 FROM removed_projects').get() !== null) await Bun.sleep(5)
  await stop()

  expect(existsSync(leftover)).toBe(false)
  expect(sqlite.query('SELECT commit_sha FROM deployments').values()).toEqual([['a'.repeat(40)]])
  const answer = await app.call('GET', '/app.js', { host, headers: { 'accept-encoding': 'br' } })
  expect(answer.headers.get('content-encoding')).toBe('br')
  expect(app.lines).toEqual([expect.stringContaining('a deleted project is not yet removed')])
  app.close()
})
