import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { killedServer } from '../../testing/killed-server.ts'
import { until } from '../../testing/until.ts'

const server = killedServer()

/**
 * A commit is in the log before the index of the log says so. Where another process has the database open when a server is killed
 * between the two, the next server does not see the commit; once both are killed, it is there again.
 */
test('a sweep removes nothing that a commit names which comes back later', async () => {
  const fields = { owner: 'acme', repo: 'site', alias: 'production' }
  expect(await server.publish({ ...fields, commitSha: 'a'.repeat(40) }, { 'index.html': 'one' })).toBe(201)
  const other = await reader(join(server.dataDir, 'svc.db'))
  const index = join(server.dataDir, 'svc.db-shm')
  const before = Bun.spawnSync(['cat', index]).stdout
  expect(await server.publish({ ...fields, commitSha: 'b'.repeat(40) }, { 'index.html': 'two' })).toBe(201)
  await server.kill()
  Bun.spawnSync(['dd', `of=${index}`, 'conv=notrunc'], { stdin: before })
  expect(deployments()).toBe(1)

  const packs = () => readdirSync(join(server.dataDir, 'blobs', 'packs')).length
  const withAll = packs()
  await server.running()
  await until('the sweep', () => packs() < withAll)
  await server.kill()
  other.kill('SIGKILL')
  await other.exited
  await server.expectWhole()
  expect(deployments()).toBe(1)
}, 60_000)

const deployments = () =>
  server.db((sqlite) => sqlite.query<{ n: number }, []>('SELECT count(*) AS n FROM deployments').get()?.n)

/** A process that has the database open. */
async function reader(file: string) {
  const program = `const db = new (require('bun:sqlite').Database)(${JSON.stringify(file)})
    db.query('SELECT count(*) FROM deployments').get()
    console.log('open')
    setInterval(() => {}, 1000)`
  const child = Bun.spawn([process.execPath, '-e', program], { stdout: 'pipe', stdin: 'ignore' })
  await child.stdout.getReader().read()
  return child
}
