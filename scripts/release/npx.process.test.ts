import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeDataDir, runSvc, type ServerProcess, startServer } from '../../src/testing/server-process.ts'
import { until } from '../../src/testing/until.ts'
import { MADE_VERSION, madeRelease } from './testing/made-release.ts'
import { type NpmHome, npmHome } from './testing/npm-home.ts'
import { type NpmRegistry, startNpmRegistry } from './testing/npm-registry.ts'
import { CONFIG } from './testing/sample-release.ts'

/** A laptop that never saw svc: `npx svc …` in an empty folder, with the release that is made. contract 19.2 */
const data = makeDataDir()
let registry: NpmRegistry
let home: NpmHome
let server: ServerProcess
let key = ''
beforeAll(async () => {
  registry = startNpmRegistry(join(madeRelease(), 'npm'))
  home = npmHome(registry.url)
  server = await startServer(data.path, {
    ADMIN_EMAIL: 'root@example.com',
    ADMIN_PASSWORD: 'correct horse battery',
  })
  key = (await runSvc(['key', 'create', 'test', '--data-dir', data.path])).stdout.trim()
})
afterAll(async () => {
  server.signal('SIGTERM')
  await server.exited
  data.remove()
  home.remove()
  await registry.stop()
})

const npx = (args: readonly string[], env: Record<string, string> = {}) =>
  home.run(['npx', CONFIG.npm.package, ...args], env)

test('rules init, rules validate and deploy work in an empty folder', async () => {
  const written = await npx(['rules', 'init', 'contact'])
  expect([written.code, written.stderr]).toEqual([0, ''])
  expect((await npx(['rules', 'validate', '.svc/proxy-rules/contact'])).code).toBe(0)
  const dist = join(home.folder, 'dist')
  mkdirSync(dist)
  writeFileSync(join(dist, 'index.html'), '<title>Published by npx</title>')
  const { code, stderr } = await npx(
    ['deploy', 'dist', '--project', 'acme/site', '--alias', 'production', '--public'],
    { SVC_API_URL: server.url, SVC_API_KEY: key },
  )
  expect([code, stderr]).toEqual([0, expect.any(String)])
  const host = `production--site--acme.localhost:${new URL(server.url).port}`
  const page = await fetch(server.url, { headers: { host } })
  expect(await page.text()).toBe('<title>Published by npx</title>')
})

test('npm asked for the packages and their archives alone', () => {
  const { scope, package: name } = CONFIG.npm
  const archives = [`${name}-${MADE_VERSION}.tgz`, `${scope.slice(1)}-linux-x64-${MADE_VERSION}.tgz`]
  const known = [name, ...archives.map((file) => `tarballs/${file}`)]
  const asked = registry.asked.filter((path) => !path.startsWith(`${scope}/`))
  expect([...new Set(asked)].sort()).toEqual(known.sort())
})

test('npx svc serve ends in good order when npx is told to end', async () => {
  const served = makeDataDir()
  const env = { DATA_DIR: served.path, HOST: '127.0.0.1', PORT: '0' }
  const serving = home.start(['npx', CONFIG.npm.package, 'serve'], env)
  const url = await until('the server', () => / serves (http:\S+)\n/.exec(serving.output())?.[1])
  expect((await fetch(`${url}/api/health`)).status).toBe(200)
  serving.kill('SIGTERM')
  await serving.ended
  expect(serving.output()).toContain('stopping')
  await expect(fetch(`${url}/api/health`)).rejects.toThrow()
  expect((await runSvc(['check', '--data-dir', served.path])).stdout).toContain('all is well')
  served.remove()
})
