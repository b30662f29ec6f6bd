import { Database } from 'bun:sqlite'
import { join } from 'node:path'

/**
 * Makes sure that one server at a time has a data directory. The lock is SQLite's on a file of its own, so it ends with
 * the process, however that ends. Undefined when somebody else holds it.
 */
export function lockDataDir(dataDir: string): { release(): void } | undefined {
  const file = new Database(join(dataDir, 'serve.lock'), { create: true })
  try {
    file.run('PRAGMA locking_mode = EXCLUSIVE')
    file.run('BEGIN EXCLUSIVE')
  } catch (error) {
    file.close()
    if (error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY') return undefined
    throw error
  }
  return { release: () => file.close() }
}
