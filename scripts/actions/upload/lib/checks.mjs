import { lstatSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ActionFailure } from './failure.mjs'

const CHECKS_FILE = '.svc/checks.yaml'

/**
 * The file that says what is checked before the alias moves: that of the published folder, else the nearest above it, up to
 * the root of the repository.
 *
 * @param {string} folder
 * @returns {{ path: string, absolutePath: string }[]}
 */
export function findChecks(folder) {
  for (let current = folder; ; current = dirname(current)) {
    const absolutePath = join(current, CHECKS_FILE)
    const stats = lstatSync(absolutePath, { throwIfNoEntry: false })
    if (stats?.isFile()) return [{ path: CHECKS_FILE, absolutePath }]
    if (stats !== undefined)
      throw new ActionFailure(`${absolutePath} is no file; svc reads what is checked from it`)
    if (current === dirname(current) || isThere(join(current, '.git'))) return []
  }
}

/** @param {string} path */
const isThere = (path) => lstatSync(path, { throwIfNoEntry: false }) !== undefined
