import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/**
 * The first file of this name in the folders of the PATH.
 *
 * @param {string} name
 * @param {import('./inputs.mjs').Env} env
 */
export function findOnPath(name, env) {
  // Windows writes the name of the variable as it likes.
  const path = env['PATH'] ?? env['Path'] ?? ''
  return path
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, name))
    .find((file) => existsSync(file))
}
