#!/usr/bin/env node
// Runs the executable of this machine, which npm installed beside: nothing is downloaded here.
'use strict'

const { spawn } = require('node:child_process')
const { constants } = require('node:os')
const { isatty } = require('node:tty')
const { name, version, optionalDependencies } = require('../package.json')

const system = process.platform === 'win32' ? 'windows' : process.platform
const platform = `${system}-${process.arch}`
const packages = Object.keys(optionalDependencies)
const wanted = packages.find((one) => one.endsWith(`/${platform}`))

const executable = findExecutable()
if (executable === undefined) complain()
else run(executable)

function findExecutable() {
  if (wanted === undefined) return undefined
  try {
    return require.resolve(`${wanted}/bin/svc${system === 'windows' ? '.exe' : ''}`)
  } catch {
    return undefined
  }
}

/** Arguments, environment, folder and streams are its own. Ends as it ends. */
function run(path) {
  let child
  const tell = (signal) => child.kill(signal)
  // Before it runs, so that no signal finds nobody. Ctrl-C at a terminal reaches both, and to be told twice is to end at once.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, signal === 'SIGINT' && isatty(0) ? () => {} : tell)
  child = spawn(path, process.argv.slice(2), { stdio: 'inherit' })
  if (process.env.npm_lifecycle_event !== undefined) endWithParent(tell)
  child.on('error', (error) => {
    // What is there and yet not found has a loader that is not there.
    if (error.code === 'ENOENT' && isMusl()) complain()
    else fail(`${path} cannot be run: ${error.message}`)
  })
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))
}

/** Who ends npx ends the shell that it put between, and the shell tells nobody: the server would stay behind. */
function endWithParent(tell) {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    tell('SIGTERM')
  }, 100)
  timer.unref()
}

function complain() {
  if (wanted === undefined)
    fail(
      `there is no executable for ${platform}. ${others()}\nOn one of them, type:\n  npx ${name}@${version} help`,
    )
  if (isMusl())
    fail(
      `there is no executable for ${platform} with musl, only with glibc. ${others()}\nIn a container, take an image with glibc:\n  FROM node:22-slim`,
    )
  fail(
    `the package ${wanted} with the executable for ${platform} is not installed. It is an optional dependency of ${name}, which --omit=optional and --no-optional leave out. ${others()}\nType:\n  npm install --include=optional ${name}@${version}`,
  )
}

function others() {
  const there = packages.map((one) => one.slice(one.indexOf('/') + 1)).join(', ')
  return `There are executables for ${there} (Linux with glibc).`
}

function isMusl() {
  if (system !== 'linux') return false
  process.report.excludeNetwork = true
  return process.report.getReport().header.glibcVersionRuntime === undefined
}

function fail(message) {
  console.error(`svc: ${message}`)
  process.exit(1)
}
