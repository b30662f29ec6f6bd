import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * npm run test:dns: runs each `*.dns.test.ts` with a real Pebble and BIND, unpacked from Debian's packages into a folder of
 * its own. Nothing is installed, and no root is needed.
 */
const root = join(import.meta.dir, '..')
const LIBRARIES = [
  'libuv1',
  'libnghttp2-14',
  'liblmdb0',
  'libmaxminddb0',
  'libfstrm0',
  'libprotobuf-c1',
  'libjson-c5',
]
const PACKAGES = ['pebble', 'bind9', 'bind9-libs', ...LIBRARIES]
const folder = mkdtempSync(join(tmpdir(), 'svc-test-dns-'))

async function run(argv: string[], cwd: string, env: Record<string, string> = {}): Promise<void> {
  const child = Bun.spawn(argv, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const exitCode = await child.exited
  if (exitCode !== 0) throw new Error(`${argv.slice(0, 2).join(' ')} ended with ${exitCode}`)
}

async function testAll(): Promise<void> {
  await run(['apt-get', 'download', '-qq', ...PACKAGES], folder)
  for (const name of readdirSync(folder)) await run(['dpkg', '-x', name, 'root'], folder)
  const patterns = Bun.argv.length > 2 ? Bun.argv.slice(2) : ['.dns.test.']
  const test = [process.execPath, 'test', '--timeout', '120000', ...patterns]
  await run(test, root, { SVC_TEST_DNS: join(folder, 'root') })
}

try {
  await testAll()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
