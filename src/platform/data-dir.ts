import { accessSync, constants, mkdirSync } from 'node:fs'
import { ConfigError } from '../config.ts'

/** Creates the data directory if there is none. Throws `ConfigError` if it cannot be used. */
export function makeDataDir(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? ` (${error.code})` : ''
    throw new ConfigError(
      `DATA_DIR is "${path}", but must be a folder that can be created and written to${why}`,
    )
  }
}
