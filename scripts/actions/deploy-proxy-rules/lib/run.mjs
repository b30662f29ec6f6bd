import { spawn } from 'node:child_process'
import { ActionFailure } from './inputs.mjs'

/** @typedef {{ code: number | null, stdout: string, stderr: string }} Ended */

/**
 * Runs a program to its end.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd: string, env: import('./inputs.mjs').Env }} options
 * @returns {Promise<Ended>}
 */
export function run(command, args, options) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
    const output = { stdout: '', stderr: '' }
    for (const name of /** @type {const} */ (['stdout', 'stderr'])) {
      child[name].setEncoding('utf8')
      child[name].on('data', (/** @type {string} */ text) => {
        output[name] += text
      })
    }
    child.on('error', (error) =>
      reject(new ActionFailure(`${command} could not be started: ${error.message}`)),
    )
    child.on('close', (code) => resolve({ code, ...output }))
  })
}

/** @param {string} text */
export const lines = (text) => text.split('\n').filter((line) => line.trim() !== '')
