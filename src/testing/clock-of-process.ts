import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The clock that a process reads, which a test sets back and forth. That of the machine stays. */
export type ClockOfProcess = { env: Record<string, string>; isAheadBy(ms: number): void; remove(): void }

export function clockOfProcess(): ClockOfProcess {
  const folder = mkdtempSync(join(tmpdir(), 'svc-clock-'))
  const file = join(folder, 'ahead')
  const isAheadBy = (ms: number) => writeFileSync(file, String(ms))
  isAheadBy(0)
  return {
    env: { SVC_TEST_CLOCK: file, BUN_OPTIONS: `--preload=${join(import.meta.dir, 'shifted-clock.ts')}` },
    isAheadBy,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
