// node scripts/smoke.mjs EXE: whether an executable serves on this machine, from the set-up to a page. Plain Node, so that it runs
// where nothing else is. Exit code: 0 it does, 1 it does not, naming the step.
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const STEP_MS = 60_000
const ADMIN = { email: 'smoke@example.com', password: 'smoke smoke smoke' }
const PAGE = '<!doctype html><title>Smoke</title><h1>It serves</h1>'

const folder = mkdtempSync(join(tmpdir(), 'svc-smoke-'))
const dataDir = join(folder, 'data')
const site = join(folder, 'site')

/** @type {import('node:child_process').ChildProcess | undefined} */
let server
let log = ''
let port = 0
let key = ''

/** @type {[name: string, run: () => Promise<void>][]} */
const STEPS = [
  ['version', async () => expectText(await svc('version'), /^svc \S+\n$/)],
  ['serve', serve],
  ['set-up', setUp],
  ['key', createKey],
  ['publish', publish],
  ['fetch', fetchPage],
  ['check', async () => expectText(await svc('check', '--data-dir', dataDir), /all is well/)],
  ['stop', stop],
]

process.exitCode = await main()

async function main() {
  try {
    for (const [name, run] of STEPS) {
      const reason = await reasonOf(run)
      if (reason !== undefined) return complain(name, reason)
      console.log(`ok: ${name}`)
    }
    return 0
  } finally {
    server?.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  }
}

/**
 * Why a step failed; undefined when it did not.
 *
 * @param {() => Promise<void>} run
 */
async function reasonOf(run) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it took more than ${STEP_MS / 1000} s`)), STEP_MS)
  })
  try {
    await Promise.race([run(), late])
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  } finally {
    clearTimeout(timer)
  }
}

/**
 * @param {string} step
 * @param {string} reason
 */
function complain(step, reason) {
  console.error(`smoke: the step "${step}" failed: ${reason}`)
  const lines = log.trim().split('\n').slice(-20).join('\n')
  if (lines !== '') console.error(`The end of the server's log:\n${lines}`)
  return 1
}

async function serve() {
  mkdirSync(dataDir)
  const child = start(['serve'], { DATA_DIR: dataDir, HOST: '127.0.0.1', PORT: '0' })
  server = child
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (bytes) => (log += bytes))
  await /** @type {Promise<void>} */ (
    new Promise((done, reject) => {
      child.once('error', reject)
      child.once('exit', (code, signal) => reject(new Error(`it ended with ${code ?? signal}`)))
      child.stdout?.on('data', () => {
        const [, found] = / serves http:\/\/\S+:(\d+)\s/.exec(log) ?? []
        if (found === undefined) return
        port = Number(found)
        done()
      })
    })
  )
  expectStatus(await ask({ path: '/api/health' }), 200)
}

async function setUp() {
  const body = JSON.stringify(ADMIN)
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  expectStatus(await ask({ method: 'POST', path: '/api/setup/complete', headers, body }), 201)
}

async function createKey() {
  key = (await svc('key', 'create', 'smoke', '--data-dir', dataDir)).trim()
  expectText(key, /^svc_/)
}

async function publish() {
  mkdirSync(site)
  writeFileSync(join(site, 'index.html'), PAGE)
  await svc('deploy', site, '--project', 'acme/smoke', '--alias', 'production', '--public')
}

async function fetchPage() {
  const host = `production--smoke--acme.localhost:${port}`
  const answer = await ask({ path: '/', headers: { host } })
  expectStatus(answer, 200)
  if (answer.text !== PAGE) throw new Error(`it has other content: ${answer.text.slice(0, 200)}`)
}

async function stop() {
  if (server === undefined) return
  const child = server
  const ended = new Promise((done) => child.removeAllListeners('exit').once('exit', done))
  child.kill('SIGTERM')
  const code = await ended
  // Windows has no signals: there it is ended at once.
  if (code !== 0 && process.platform !== 'win32') throw new Error(`it ended with ${code}`)
}

/**
 * What a command prints, which has to end with 0.
 *
 * @param {string[]} args
 * @returns {Promise<string>}
 */
function svc(...args) {
  const child = start(args, { SVC_API_URL: `http://127.0.0.1:${port}`, SVC_API_KEY: key })
  let output = ''
  let errors = ''
  child.stdout?.on('data', (bytes) => (output += bytes))
  child.stderr?.on('data', (bytes) => (errors += bytes))
  return new Promise((done, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      if (code === 0) done(output)
      else reject(new Error(`svc ${args[0]} ended with ${code ?? signal}\n${output}${errors}`))
    })
  })
}

/**
 * With nothing of this machine's settings.
 *
 * @param {string[]} args
 * @param {Record<string, string>} env
 */
function start(args, env) {
  const executable = process.argv[2]
  if (executable === undefined) throw new Error('give the executable: node scripts/smoke.mjs EXE')
  const kept = ['PATH', 'SystemRoot', 'TEMP', 'TMP', 'TMPDIR'].flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value]]
  })
  return spawn(resolve(executable), args, {
    cwd: folder,
    env: { ...Object.fromEntries(kept), HOME: folder, USERPROFILE: folder, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/**
 * @param {{ path: string, method?: string, headers?: import('node:http').OutgoingHttpHeaders, body?: string }} asked
 * @returns {Promise<{ status: number | undefined, text: string }>}
 */
function ask({ path, method = 'GET', headers = {}, body }) {
  return new Promise((done, reject) => {
    const asking = request({ host: '127.0.0.1', port, path, method, headers, agent: false }, (answer) => {
      let text = ''
      answer.setEncoding('utf8')
      answer.on('data', (piece) => (text += piece))
      answer.on('end', () => done({ status: answer.statusCode, text }))
      answer.on('error', reject)
    })
    asking.on('error', reject)
    asking.end(body)
  })
}

/**
 * @param {{ status: number | undefined, text: string }} answer
 * @param {number} status
 */
function expectStatus(answer, status) {
  if (answer.status !== status) throw new Error(`it answers ${answer.status}: ${answer.text.slice(0, 200)}`)
}

/**
 * @param {string} text
 * @param {RegExp} form
 */
function expectText(text, form) {
  if (!form.test(text)) throw new Error(`it says ${JSON.stringify(text.slice(0, 200))}`)
}
