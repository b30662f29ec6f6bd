import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { makeDataDir, runSvc, type ServerProcess, startServer } from '../testing/server-process.ts'

/** contract 12.9 with the real program: what `svc deploy` and the CI action say and refuse. */

const ACTION = join(import.meta.dir, '../..', 'scripts', 'actions', 'upload', 'index.mjs')
const NOTED = [
  'What the alias live serves has no index.html',
  'There is no index.html at the top, but one in the folder site',
  'is private: only people with the role guest',
]

const data = makeDataDir()
const work = mkdtempSync(join(tmpdir(), 'svc-notes-'))
let server: ServerProcess
let key = ''

beforeAll(async () => {
  const env = {
    ADMIN_EMAIL: 'root@example.com',
    ADMIN_PASSWORD: 'correct horse battery',
    RATE_LIMIT_UPLOAD: '0',
  }
  server = await startServer(data.path, env)
  key = (await runSvc(['key', 'create', 'test', '--data-dir', data.path])).stdout.trim()
  write('nested/site/index.html', '<h1>hello</h1>')
  write('nested/__MACOSX/._x', 'left out')
})
afterAll(async () => {
  server.signal('SIGKILL')
  await server.exited
  data.remove()
  rmSync(work, { recursive: true })
})

function write(path: string, content: string): void {
  mkdirSync(dirname(join(work, path)), { recursive: true })
  writeFileSync(join(work, path), content)
}

let count = 0
const sha = () => Bun.SHA1.hash(`${count++}`, 'hex')

const deploy = (project: string, ...flags: string[]) => {
  const args = ['deploy', join(work, 'nested'), '--project', project, '--alias', 'live', '--sha', sha()]
  return runSvc([...args, ...flags], { env: { SVC_API_URL: server.url, SVC_API_KEY: key } })
}

test('svc deploy prints the notes on stderr, or has them in the JSON, and --unwrap heeds them', async () => {
  const plain = await deploy('acme/cli')
  expect(plain.code).toBe(0)
  for (const note of NOTED) expect(plain.stderr).toContain(note)
  expect(plain.stdout).not.toContain('private')
  const json = await deploy('acme/cli', '--json')
  for (const note of NOTED) expect(json.stderr).not.toContain(note)
  const codes = JSON.parse(json.stdout).notes.map(({ code }: { code: string }) => code)
  expect(codes).toEqual(['NO_START_PAGE', 'NESTED_FOLDER', 'PRIVATE_PROJECT'])
  const unwrapped = await deploy('acme/open', '--unwrap', '--public', '--json')
  expect(JSON.parse(unwrapped.stdout)).toMatchObject({ notes: [], deployment: { fileCount: 1 } })
  const shown = await fetch(server.url, { headers: { host: 'live--open--acme.localhost' } })
  expect(await shown.text()).toBe('<h1>hello</h1>')
})

async function action(inputs: Record<string, string>): Promise<{ code: number; log: string }> {
  const given = { 'api-url': server.url, 'api-key': key, files: '**', alias: 'live', ...inputs }
  const child = Bun.spawn(['node', ACTION], {
    env: {
      PATH: process.env['PATH'] ?? '',
      GITHUB_WORKSPACE: join(work, 'nested'),
      GITHUB_REPOSITORY: 'acme/ci',
      GITHUB_SHA: sha(),
      ...Object.fromEntries(
        Object.entries(given).map(([name, text]) => [`INPUT_${name.toUpperCase()}`, text]),
      ),
    },
    stdout: 'pipe',
  })
  return { code: await child.exited, log: await new Response(child.stdout).text() }
}

test('the action says them as notices, and takes unwrap', async () => {
  const plain = await action({})
  expect(plain.code).toBe(0)
  for (const note of NOTED) expect(plain.log).toMatch(new RegExp(`^::notice::.*${note}`, 'm'))
  const unwrapped = await action({ unwrap: 'true' })
  expect(unwrapped.log).not.toContain('There is no index.html')
  const shown = await fetch(server.url, { headers: { host: 'live--ci--acme.localhost', 'x-api-key': key } })
  expect(await shown.text()).toBe('<h1>hello</h1>')
})

test('unwrapping that puts two contents under one path is refused, and nothing goes live', async () => {
  write('nested/a.txt', 'one')
  write('nested/site/a.txt', 'two')
  const before = await fetch(server.url, { headers: { host: 'live--open--acme.localhost' } })
  const { code, stderr } = await deploy('acme/open', '--unwrap')
  expect([code, stderr]).toEqual([1, expect.stringContaining('a.txt is both at the top and in site')])
  const refused = await action({ unwrap: 'true' })
  expect([refused.code, refused.log]).toEqual([1, expect.stringContaining('"a.txt" comes twice')])
  const after = await fetch(server.url, { headers: { host: 'live--open--acme.localhost' } })
  expect(after.headers.get('x-svc-commit')).toBe(before.headers.get('x-svc-commit'))
})
