import { readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = join(import.meta.dir, '../../..')

/** Of all that tests make, so that nothing of package.json is taken for it. */
export const MADE_VERSION = '1.2.3-rc.4'

/** What Bun runs to make it. */
export const makingRelease = (out: string): string[] => [
  'scripts/release.ts',
  '--unofficial',
  '--version',
  MADE_VERSION,
  '--out',
  out,
]

/**
 * The folder of a release for linux-x64: the one that `npm test` made, else one that is made once for this process. That stays
 * until the next process makes one, as no test knows that it is the last.
 */
export function madeRelease(): string {
  made ??= process.env['SVC_TEST_RELEASE'] ?? make()
  return made
}
let made: string | undefined

function make(): string {
  removeFormer()
  const out = join(tmpdir(), `${PREFIX}${process.pid}`)
  const command = [process.execPath, ...makingRelease(out), '--only', 'linux-x64']
  const { exitCode, stderr } = Bun.spawnSync(command, { cwd: root, stderr: 'pipe' })
  if (exitCode !== 0) throw new Error(`the release ended with ${exitCode}: ${stderr}`)
  return out
}

const PREFIX = 'svc-made-release-'

function removeFormer(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = name.startsWith(PREFIX) ? Number(name.slice(PREFIX.length)) : process.pid
    if (pid !== process.pid && !isRunning(pid)) rmSync(join(tmpdir(), name), { recursive: true, force: true })
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
