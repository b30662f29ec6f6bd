import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Says that the database of a data directory is a copy of a store's. */
export const MARKER_FILE = 'replica.json'

export const isCopy = (dataDir: string): boolean => existsSync(join(dataDir, MARKER_FILE))
