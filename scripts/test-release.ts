import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makingRelease } from './release/testing/made-release.ts'

/**
 * npm run test:release: makes a release of all platforms and runs each `*.release.test.ts` with it. `npm test` makes that of
 * linux-x64 and runs the others.
 */
const root = join(import.meta.dir, '..')
const folder = mkdtempSync(join(tmpdir(), 'svc-test-release-'))
const out = join(folder, 'release')

const run = (args: readonly string[], env: Record<string, string> = {}): Promise<number> =>
  Bun.spawn([process.execPath, ...args], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  }).exited

async function testAll(): Promise<number> {
  const exitCode = await run(makingRelease(out))
  if (exitCode !== 0) return exitCode
  const patterns = Bun.argv.length > 2 ? Bun.argv.slice(2) : ['.release.test.']
  return run(['test', '--timeout', '300000', ...patterns], { SVC_TEST_RELEASE: out })
}

const exitCode = await testAll().finally(() => rmSync(folder, { recursive: true, force: true }))
process.exit(exitCode)
