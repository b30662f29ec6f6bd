import { existsSync } from 'node:fs'
import { ActionFailure } from './inputs.mjs'
import { installSvc } from './install-svc.mjs'
import { findOnPath } from './path.mjs'

/** @typedef {{ command: string, before: string[] }} Svc The command, and what comes before its arguments. */

/**
 * The svc that the input names, else the one on the PATH, else the one that npm installs.
 *
 * @param {{ svcPath: string, svcVersion: string }} inputs
 * @param {import('./inputs.mjs').Env} env
 * @param {(text: string) => void} log
 * @returns {Promise<Svc>}
 */
export async function findSvc({ svcPath, svcVersion }, env, log) {
  if (svcPath !== '') {
    if (!existsSync(svcPath)) throw new ActionFailure(`The input svc-path names no file: ${svcPath}`)
    return { command: svcPath, before: [] }
  }
  const onPath = findOnPath(process.platform === 'win32' ? 'svc.exe' : 'svc', env)
  if (onPath !== undefined) return { command: onPath, before: [] }
  return installSvc(svcVersion, env, log)
}
