import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { publishTar, shaOf } from '../testing/publish-tar.ts'
import { makeDataDir, runSvc, type ServerProcess, startServer } from '../testing/server-process.ts'

/** The real program, real files, real clients: what a laptop and CI do, and what happens in a crash. */
const GUESTBOOK = join(import.meta.dir, '../..', 'examples', 'guestbook')
const ACTION = join(import.meta.dir, '../..', 'scripts', 'actions', 'upload', 'index.mjs')
const SHA = '0123456789abcdef0123456789abcdef01234567'

const data = makeDataDir()
const work = mkdtempSync(join(tmpdir(), 'svc-work-'))
let server: ServerProcess
let key = ''

beforeAll(async () => {
  server = await startServer(data.path, {
    ADMIN_EMAIL: 'root@example.com',
    ADMIN_PASSWORD: 'correct horse battery',
  })
  key = await makeKey(data.path)
})

afterAll(async () => {
  server.signal('SIGKILL')
  await server.exited
  data.remove()
  rmSync(work, { recursive: true })
})

async function makeKey(path: string): Promise<string> {
  const { code, stdout } = await runSvc(['key', 'create', 'test', '--data-dir', path])
  expect(code).toBe(0)
  expect(stdout).toMatch(/^svc_[\w-]{43}\n$/)
  return stdout.trim()
}

const connection = (of: ServerProcess = server) => ({ SVC_API_URL: of.url, SVC_API_KEY: key })

async function siteFile(
  host: string,
  path: string,
  of: ServerProcess = server,
): Promise<{ status: number; bytes: Buffer }> {
  const answer = await fetch(`${of.url}${path}`, { headers: { host } })
  return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) }
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((path) => !/(^|\/)\.(?!well-known)/.test(path))
}

/** They say how a site is served, and are not served. contract 13 §1. */
const ROUTING_FILES = ['_headers', '_redirects']

test('svc deploy publishes every file of the example, and sends nothing the second time', async () => {
  const args = [
    'deploy',
    GUESTBOOK,
    '--project',
    'acme/guestbook',
    '--sha',
    SHA,
    '--alias',
    'production',
    '--public',
    '--json',
  ]
  const first = await runSvc(args, { env: connection() })
  expect(first.stderr).not.toContain('error')
  expect(first.code).toBe(0)
  const paths = filesBelow(GUESTBOOK)
  expect(JSON.parse(first.stdout)).toMatchObject({ published: true, deployment: { fileCount: paths.length } })
  for (const path of paths) {
    const { status, bytes } = await siteFile('production--guestbook--acme.localhost', `/${path}`)
    if (ROUTING_FILES.includes(path)) {
      expect([path, status]).toEqual([path, 404])
      continue
    }
    expect([path, status]).toEqual([path, 200])
    expect(bytes.equals(readFileSync(join(GUESTBOOK, path)))).toBe(true)
  }
  const again = await runSvc(args, { env: connection() })
  expect(JSON.parse(again.stdout)).toMatchObject({ sent: { files: 0, bytes: 0 } })
})

test('the action publishes from a runner', async () => {
  const output = join(work, 'output')
  const summary = join(work, 'summary')
  for (const path of [output, summary]) writeFileSync(path, '')
  const site = join(work, 'repo', 'dist')
  mkdirSync(join(site, 'assets'), { recursive: true })
  writeFileSync(join(site, 'index.html'), '<h1>from CI</h1>')
  writeFileSync(join(site, 'assets/app-1a2b3c4d.js'), 'run()')
  const child = Bun.spawn(['node', ACTION], {
    env: {
      PATH: process.env['PATH'] ?? '',
      GITHUB_WORKSPACE: join(work, 'repo'),
      GITHUB_OUTPUT: output,
      GITHUB_STEP_SUMMARY: summary,
      GITHUB_REPOSITORY: 'acme/ci',
      GITHUB_SHA: SHA,
      GITHUB_REF_NAME: 'main',
      GITHUB_WORKFLOW: 'Deploy',
      GITHUB_RUN_ID: '42',
      'INPUT_API-URL': server.url,
      'INPUT_API-KEY': key,
      INPUT_FILES: '**',
      INPUT_PATH: 'dist',
      INPUT_ALIAS: 'production',
    },
    stdout: 'pipe',
  })
  expect([await child.exited, await new Response(child.stdout).text()]).toEqual([0, expect.any(String)])
  const outputs = readFileSync(output, 'utf8')
  for (const name of ['deployment-id', 'sha-url', 'alias-url', 'preview-url', 'file-count', 'total-size'])
    expect(outputs).toContain(name)
  expect(readFileSync(summary, 'utf8')).toContain('production--ci--acme.localhost')
  const headers = { host: 'production--ci--acme.localhost', 'x-api-key': key }
  expect(await (await fetch(`${server.url}/`, { headers })).text()).toBe('<h1>from CI</h1>')
  expect((await siteFile(headers.host, '/')).status).toBe(404)
  const listed = await fetch(`${server.url}/api/deployments?owner=acme&repo=ci`, {
    headers: { 'x-api-key': key },
  })
  expect(await listed.json()).toMatchObject({
    data: [{ commitSha: SHA, branch: 'main', workflowName: 'Deploy', workflowRunId: '42', fileCount: 2 }],
  })
})

test('a backup taken while uploads run is consistent, and restores to the same sites', async () => {
  const file = join(work, 'backup.tar')
  const uploads = Array.from({ length: 8 }, (_, i) =>
    publishTar(work, server, key, 'busy', shaOf(i), { 'n.txt': `number ${i}` }),
  )
  const [made] = await Promise.all([runSvc(['backup', file, '--data-dir', data.path]), ...uploads])
  expect(made).toMatchObject({ code: 0 })

  const fresh = makeDataDir()
  expect(await runSvc(['restore', file, '--data-dir', fresh.path])).toMatchObject({ code: 0 })
  expect(await runSvc(['check', '--data-dir', fresh.path])).toMatchObject({
    code: 0,
    stdout: 'all is well\n',
  })
  expect(await runSvc(['restore', file, '--data-dir', fresh.path])).toMatchObject({ code: 1 })
  const restored = await startServer(fresh.path)
  const { bytes } = await siteFile('production--guestbook--acme.localhost', '/', restored)
  expect(bytes.equals(readFileSync(join(GUESTBOOK, 'index.html')))).toBe(true)
  restored.signal('SIGTERM')
  expect(await restored.exited).toBe(0)
  fresh.remove()
})

test('svc check reports a stored file that was damaged on the disk', async () => {
  const fresh = makeDataDir()
  const file = join(work, 'again.tar')
  await runSvc(['backup', file, '--data-dir', data.path])
  await runSvc(['restore', file, '--data-dir', fresh.path])
  for (const pack of filesBelow(join(fresh.path, 'blobs', 'packs'))) {
    const path = join(fresh.path, 'blobs', 'packs', pack)
    const bytes = readFileSync(path)
    bytes[10] = (bytes[10] ?? 0) ^ 1
    writeFileSync(path, bytes)
  }
  const { code, stdout } = await runSvc(['check', '--data-dir', fresh.path])
  expect(code).toBe(1)
  expect(stdout).toContain('content_damaged')
  fresh.remove()
})

test('svc deploy --public says that it changed nothing if the project already exists and is private', async () => {
  const deploy = async (project: string, ...flags: string[]) => {
    const args = ['deploy', GUESTBOOK, '--project', project, '--sha', SHA, ...flags]
    const { code, stderr } = await runSvc(args, { env: connection() })
    expect(code).toBe(0)
    return stderr
  }
  const said = 'acme/hidden was there before and is private'
  expect(await deploy('acme/hidden', '--alias', 'production')).not.toContain(said)
  expect(await deploy('acme/hidden', '--alias', 'production', '--public')).toContain(said)
  expect(await deploy('acme/shown', '--public')).not.toContain('is private')
  expect(await deploy('acme/shown', '--public')).not.toContain('is private')
})
