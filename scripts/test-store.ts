import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** npm run test:store: installs what is missing, starts a real Ceph, runs each `*.store.test.ts` with it and stops it. */
const root = join(import.meta.dir, '..')
const PORT = 23_200
const folder = mkdtempSync(join(tmpdir(), 'svc-ceph-'))

async function run(argv: string[], env: Record<string, string> = {}): Promise<number> {
  const child = Bun.spawn(argv, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  return await child.exited
}

const ceph = (...args: string[]) => run(['bash', 'scripts/store/ceph.sh', ...args])

async function testAll(): Promise<number> {
  for (const step of [
    () => ceph('install'),
    () => run([process.execPath, 'scripts/build.ts']),
    () => ceph('start', folder, String(PORT)),
  ]) {
    const exitCode = await step()
    if (exitCode !== 0) return exitCode
  }
  const patterns = Bun.argv.length > 2 ? Bun.argv.slice(2) : ['.store.test.']
  return run([process.execPath, 'test', '--timeout', '120000', ...patterns], {
    SVC_TEST_STORE: `http://127.0.0.1:${PORT}`,
    SVC_TEST_STORE_FOLDER: folder,
  })
}

const exitCode = await testAll().finally(() => ceph('stop', folder))
rmSync(folder, { recursive: true, force: true })
process.exit(exitCode)
