import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FIRST_ADMIN } from '../../testing/full-disk.ts'
import { LATER_MIGRATION, upgradeInTurn, type Version } from '../../testing/rolling-upgrade.ts'
import { type ServerProcess, startServer } from '../../testing/server-process.ts'
import { type StoreProcess, storeProcess } from '../../testing/store-process.ts'

/** contract 18 §5: two executables, of which one knows a migration more. */

const ROOT = join(import.meta.dir, '../../..')
/** What an executable is built of. */
const SOURCES = ['src', 'ui', 'migrations', 'scripts', 'packages', 'docs', 'package.json', 'tsconfig.json']
const END_OF_LIST = /\n\]\n/

const folder = mkdtempSync(join(tmpdir(), 'svc-later-'))
const executables: Record<Version, string> = { old: join(ROOT, 'dist/svc'), new: join(folder, 'dist/svc') }
const running: ServerProcess[] = []
let at: StoreProcess
beforeAll(async () => {
  at = await storeProcess({ TAKEOVER_SECONDS: '3' })
  for (const name of SOURCES) cpSync(join(ROOT, name), join(folder, name), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  const list = join(folder, 'migrations/index.ts')
  const text = readFileSync(list, 'utf8')
  expect(text).toMatch(END_OF_LIST)
  writeFileSync(list, text.replace(END_OF_LIST, `\n${JSON.stringify(LATER_MIGRATION)}\n]\n`))
  const built = Bun.spawnSync([process.execPath, join(folder, 'scripts/build.ts')], { stderr: 'pipe' })
  if (built.exitCode !== 0) throw new Error(built.stderr.toString())
}, 120_000)
afterAll(async () => {
  for (const server of running) server.signal('SIGKILL')
  await Promise.all(running.map(({ exited }) => exited))
  await at.remove()
  rmSync(folder, { recursive: true, force: true })
})

test('machine after machine is upgraded across a migration', async () => {
  await upgradeInTurn(async (version, name, env) => {
    // In place of the program that is started from its sources.
    const before = ['sh', '-c', 'exec "$0" serve', executables[version]]
    const server = await startServer(
      `${at.dataDir}-${name}`,
      { ...at.env, ...FIRST_ADMIN, MACHINE_NAME: name, ...env },
      before,
    )
    running.push(server)
    return server
  })
}, 120_000)
