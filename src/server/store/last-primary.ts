import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { handOver } from '../../platform/owner.ts'

/** The id by which this data directory took over last. Lost, a start only waits for the silence of the primary that it was. */
const FILE = 'primary.id'

/** Before the log says so. */
export function rememberTakeOver(dataDir: string, writer: string): void {
  const path = join(dataDir, FILE)
  writeFileSync(path, `${writer}\n`, { mode: 0o600 })
  handOver(path)
}

/** Whether the primary with this id ran on this data directory. */
export function wasPrimaryHere(dataDir: string, writer: string): boolean {
  try {
    return readFileSync(join(dataDir, FILE), 'utf8').trim() === writer
  } catch {
    return false
  }
}
