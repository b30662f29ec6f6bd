// Plain Node and npm make sure that Bun of the pinned version and the packages of bun.lock are here.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const wanted = manifest.devDependencies.bun

/** Installs what is missing and returns the path of Bun. */
export function prepare() {
  const bun = findBun() ?? installBun()
  installPackages(bun)
  return bun
}

/**
 * Runs a command in the foreground until it ends, hands signals on to it, and ends with its exit code.
 *
 * @param {string} command
 * @param {string[]} args
 */
export function become(command, args) {
  const child = spawn(command, args, { cwd: root, stdio: 'inherit' })
  for (const signal of /** @type {const} */ (['SIGTERM', 'SIGINT', 'SIGHUP']))
    process.on(signal, () => child.kill(signal))
  if (process.env['npm_lifecycle_event'] !== undefined) endWithParent(child)
  child.on('error', (error) => fail(`${command} could not be started: ${error.message}`))
  child.on('exit', (code, signal) => process.exit(code ?? (signal === null ? 1 : 128)))
}

/**
 * Who ends npm ends the shell that it put between, and the shell tells nobody: the server would stay behind.
 *
 * @param {import('node:child_process').ChildProcess} child
 */
function endWithParent(child) {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    child.kill('SIGTERM')
  }, 200)
  timer.unref()
}

/**
 * Runs a command to its end; ends this process when it fails.
 *
 * @param {string} command
 * @param {string[]} args
 */
export function run(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit' })
  if (error !== undefined) fail(`${command} could not be started: ${error.message}`)
  if (status !== 0) process.exit(status ?? 1)
}

/** A Bun of the wanted version: of an earlier run, of the packages, or on the path. */
function findBun() {
  const places = [join(root, '.tools/node_modules'), join(root, 'node_modules')].flatMap((modules) => [
    join(modules, `@oven/bun-${process.platform}-${cpu()}/bin/bun`),
    join(modules, '.bin/bun'),
  ])
  return places.find(isWanted) ?? bunOnPath()
}

/** By its whole path: once the packages are here, npm puts a `bun` of theirs first, which is not set up. */
function bunOnPath() {
  if (!isWanted('bun')) return undefined
  return spawnSync('bun', ['--print', 'process.execPath'], { encoding: 'utf8' }).stdout.trim()
}

function cpu() {
  return process.arch === 'arm64' ? 'aarch64' : process.arch
}

/** @param {string} path */
function isWanted(path) {
  if (path.includes('/') && !existsSync(path)) return false
  const { status, stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' })
  return status === 0 && stdout.trim() === wanted
}

/** Into .tools, so that it does not depend on what is in node_modules. */
function installBun() {
  console.error(`Installing Bun ${wanted} from npm …`)
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  const flags = ['--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--loglevel=error']
  run(npm, ['install', '--prefix', join(root, '.tools'), ...flags, `bun@${wanted}`])
  const found = findBun()
  if (found === undefined) fail(`Bun ${wanted} could not be installed. Is the npm registry reachable?`)
  return found
}

/**
 * Exactly what bun.lock says; quick when it is all there.
 *
 * @param {string} bun
 */
function installPackages(bun) {
  const { status, stdout, stderr } = spawnSync(bun, ['install', '--frozen-lockfile'], {
    cwd: root,
    encoding: 'utf8',
  })
  if (status !== 0) fail(`Installing the packages failed:\n${stdout}${stderr}`)
}

/**
 * @param {string} message
 * @returns {never}
 */
function fail(message) {
  console.error(message)
  process.exit(1)
}
