import { existsSync, mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ActionFailure } from './inputs.mjs'
import { findOnPath } from './path.mjs'
import { releasedPackage } from './release.mjs'
import { lines, run } from './run.mjs'

const WAY_OUT = 'or name an svc that is on the runner with the input svc-path'

/**
 * The svc of this version among the runner's tools, where npm puts it the first time.
 *
 * @param {string} version
 * @param {import('./inputs.mjs').Env} env
 * @param {(text: string) => void} log
 * @returns {Promise<import('./find-svc.mjs').Svc>}
 */
export async function installSvc(version, env, log) {
  if (releasedPackage === undefined || version === '')
    throw new ActionFailure(
      'There is no svc here, and this copy of the action is of no release that could install it: put svc on the PATH, or name it with the input svc-path',
    )
  const tools = env['RUNNER_TOOL_CACHE'] || env['RUNNER_TEMP']
  if (!tools)
    throw new ActionFailure(
      `There is no svc here, and neither RUNNER_TOOL_CACHE nor RUNNER_TEMP says where to install it: set one, ${WAY_OUT}`,
    )
  const folder = join(tools, 'svc', version, platform())
  const wrapper = join('node_modules', releasedPackage, 'bin', 'svc.cjs')
  if (!existsSync(join(folder, wrapper))) {
    log(`No svc on the PATH: npm installs ${releasedPackage}@${version}`)
    await installInto(folder, { wrapper, spec: `${releasedPackage}@${version}`, env: envForNpm(env) })
  }
  return { command: process.execPath, before: [join(folder, wrapper)] }
}

/** As a release calls it. */
function platform() {
  return `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
}

/**
 * Without the inputs, one of which is the key.
 *
 * @param {import('./inputs.mjs').Env} env
 */
function envForNpm(env) {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.toUpperCase().startsWith('INPUT_')))
}

/**
 * Installs beside the folder and renames, so that one that is there is whole.
 *
 * @param {string} folder
 * @param {{ wrapper: string, spec: string, env: import('./inputs.mjs').Env }} wanted
 */
async function installInto(folder, { wrapper, spec, env }) {
  const npm = findNpm(env)
  mkdirSync(dirname(folder), { recursive: true })
  const beside = mkdtempSync(`${folder}-`)
  try {
    // Without it npm would look for a project in the folders above.
    writeFileSync(join(beside, 'package.json'), '{ "private": true }\n')
    const installed = await run(npm.command, [...npm.before, ...installArgs(beside, spec)], {
      cwd: beside,
      env,
    })
    if (installed.code !== 0) throw failed(spec, installed)
    // npm takes it as it is when the executable, an optional package, could not be had. Such a folder is not kept.
    const tried = await run(process.execPath, [join(beside, wrapper), 'version'], { cwd: beside, env })
    if (tried.code !== 0) throw failed(spec, tried)
    rename(beside, folder, wrapper)
  } finally {
    rmSync(beside, { recursive: true, force: true })
  }
}

/**
 * @param {string} beside
 * @param {string} spec
 */
const installArgs = (beside, spec) => [
  'install',
  '--prefix',
  beside,
  '--ignore-scripts',
  '--include=optional',
  '--no-package-lock',
  '--no-audit',
  '--no-fund',
  '--no-update-notifier',
  '--loglevel=error',
  // Its last line would name a log that nobody gets to see.
  '--logs-max=0',
  spec,
]

/**
 * npm as a program of Node, where it is one: then nothing but Node has to be on the PATH, and Windows needs no shell.
 *
 * @param {import('./inputs.mjs').Env} env
 * @returns {import('./find-svc.mjs').Svc}
 */
function findNpm(env) {
  const name = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  const found = findOnPath(name, env)
  if (found === undefined)
    throw new ActionFailure(
      `There is no svc on the PATH, and no npm that could install it: run actions/setup-node before this step, ${WAY_OUT}`,
    )
  const program =
    name === 'npm.cmd' ? join(dirname(found), 'node_modules/npm/bin/npm-cli.js') : realpathSync(found)
  return program.endsWith('.js') && existsSync(program)
    ? { command: process.execPath, before: [program] }
    : { command: found, before: [] }
}

/**
 * Another job may have been faster; its folder is as good.
 *
 * @param {string} beside
 * @param {string} folder
 * @param {string} wrapper
 */
function rename(beside, folder, wrapper) {
  try {
    renameSync(beside, folder)
  } catch (error) {
    if (!existsSync(join(folder, wrapper))) throw error
  }
}

/**
 * @param {string} spec
 * @param {import('./run.mjs').Ended} ended
 */
function failed(spec, { code, stdout, stderr }) {
  const said = lines(stderr).at(-1) ?? lines(stdout).at(-1) ?? `it ended with ${code}`
  return new ActionFailure(`npm could not install ${spec}: ${said.trim()}. Try again, ${WAY_OUT}`)
}
