import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { makeDataDir, runSvc, type ServerProcess, startServer } from '../testing/server-process.ts'
import { runUploadAction } from './testing/run-action.ts'

/** What `svc deploy` and the upload action say of a publish to the real program. contract 13 §8, §10. */
const ADMIN = { email: 'root@example.com', password: 'correct horse battery' }
const data = makeDataDir()
let server: ServerProcess
let key = ''
let folder = ''
let count = 0

beforeAll(async () => {
  server = await startServer(data.path, {
    RATE_LIMIT_API: '0',
    RATE_LIMIT_UPLOAD: '0',
    ADMIN_EMAIL: ADMIN.email,
    ADMIN_PASSWORD: ADMIN.password,
  })
  key = (await runSvc(['key', 'create', 'test', '--data-dir', data.path])).stdout.trim()
})
afterAll(async () => {
  server.signal('SIGTERM')
  await server.exited
  data.remove()
})
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-told-'))
  count += 1
})
afterEach(() => rmSync(folder, { recursive: true }))

function write(files: Record<string, string>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
}

/** `places`: each of the texts that a person reads by itself. */
type Told = { code: number; text: string; places: string[]; status: string | undefined }

async function byCommand(repo: string, isForced: boolean): Promise<Told> {
  const flags = ['--alias', 'production', '--public', ...(isForced ? ['--force'] : [])]
  const at = ['deploy', folder, '--project', `acme/${repo}`, '--api-url', server.url]
  const { code, stdout, stderr } = await runSvc([...at, ...flags], {
    env: { HOME: '/nonexistent', SVC_API_KEY: key },
  })
  const text = stdout + stderr
  return { code, text, places: [text], status: /^release (\w+)/m.exec(stdout)?.[1] }
}

async function byAction(repo: string, isForced: boolean): Promise<Told> {
  const sha = String(count * 100 + actions).padStart(40, 'a')
  actions += 1
  const { code, log, outputs, summary } = await runUploadAction(
    { 'api-url': server.url, 'api-key': key, files: '**', alias: 'production', force: String(isForced) },
    {
      workspace: folder,
      env: { GITHUB_REPOSITORY: `acme/${repo}`, GITHUB_SHA: sha, GITHUB_EVENT_NAME: 'push' },
      event: {},
      token: '',
    },
  )
  return { code, text: log + summary, places: [log, summary], status: outputs['release-status'] }
}
let actions = 0

const CHECKED = {
  '.svc/checks.yaml': 'checks:\n  - { name: imprint, path: /imprint.html, contains: Register }\n',
}

async function ask(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const answer = await fetch(`${server.url}${path}`, {
    method,
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return Object(await answer.json())
}

/** A key may not: as the first admin. */
async function lock(alias: string): Promise<void> {
  const send = (method: string, path: string, body: unknown, cookie = '') =>
    fetch(`${server.url}${path}`, {
      method,
      headers: { 'content-type': 'application/json', cookie },
      body: JSON.stringify(body),
    })
  const signedIn = await send('POST', '/api/auth/signin', ADMIN)
  const cookies = signedIn.headers.getSetCookie().map((line) => line.slice(0, line.indexOf(';')))
  expect((await send('PATCH', alias, { isLocked: true }, cookies.join('; '))).status).toBe(200)
}

const listOf = async (path: string) => Object((await ask('GET', path))['data']) as { id: string }[]

/** The address of the record of the only alias of a project, and the project's id. */
async function productionOf(repo: string): Promise<{ alias: string; projectId: string }> {
  const projectId = String((await ask('GET', `/api/projects/acme/${repo}`))['id'])
  const [alias] = await listOf(`/api/aliases?projectId=${projectId}`)
  return { alias: `/api/aliases/${alias?.id}`, projectId }
}

describe.each([
  ['svc deploy', byCommand, '--force'],
  ['the upload action', byAction, 'force: true'],
] as const)('%s', (_what, publish, force) => {
  test('a release that passes, fails, is forced and is locked', async () => {
    const repo = `site${count}`
    write({ ...CHECKED, 'index.html': 'one', 'imprint.html': 'Register 1' })
    expect(await publish(repo, false)).toMatchObject({ code: 0, status: 'passed' })

    write({ 'index.html': 'two', 'imprint.html': 'nothing' })
    const failed = await publish(repo, false)
    expect([failed.code, failed.status]).toEqual([1, 'failed'])
    expect(failed.text).toContain('imprint (/imprint.html): ')
    expect(failed.text).toContain(force)

    write({ 'index.html': 'three' })
    const forced = await publish(repo, true)
    expect([forced.code, forced.status]).toEqual([0, 'forced'])
    expect(forced.text).toContain('was moved although this failed:')

    const { alias } = await productionOf(repo)
    await lock(alias)
    write({ 'index.html': 'four', 'imprint.html': 'Register 4' })
    const locked = await publish(repo, false)
    expect([locked.code, locked.status]).toEqual([0, 'locked'])
    expect(locked.text).toContain('is locked')
  }, 60_000)

  test('a release that somebody overtakes', async () => {
    const repo = `site${count}`
    for (const text of ['one', 'two']) {
      write({ 'index.html': text })
      expect((await publish(repo, false)).code).toBe(0)
    }
    const { alias, projectId } = await productionOf(repo)
    const deployments = await listOf(`/api/deployments?projectId=${projectId}`)
    const slow = Array.from({ length: 20 }, () => '  - { path: /long.html, contains: the end }')
    const checks = `startPage: false\nchecks:\n${slow.join('\n')}\n`
    write({ '.svc/checks.yaml': checks, 'long.html': `${'x'.repeat(1_000_000)}the end` })
    let isOver = false
    const publishing = publish(repo, false).finally(() => {
      isOver = true
    })
    for (let move = 0; !isOver; move += 1)
      await ask('PATCH', alias, { deploymentId: deployments[move % deployments.length]?.id })
    const { code, status, text } = await publishing
    expect([code, status]).toEqual([0, 'overtaken'])
    expect(text.toLowerCase()).toContain('somebody moved the alias production while this was checked')
  }, 60_000)

  test('refused lines are named, and the publish succeeds', async () => {
    write({ '.env': 'A=b', 'index.html': 'one', _redirects: '/a /index.html\n/bad\n', _headers: 'X-A: b\n' })
    const { code, text } = await publish(`site${count}`, false)
    expect(code).toBe(0)
    expect(text).toContain('_redirects:2 ')
    expect(text).toContain('_headers:1 ')
  }, 60_000)

  test('what the report finds is printed once each, and so is a note that says the same', async () => {
    write({ 'home.html': '<a href="/gone.html">x</a>', id_rsa: 'no key', _redirects: '/bad\n' })
    const { code, text, places } = await publish(`site${count}`, false)
    expect(code).toBe(0)
    const timesIn = (place: string, said: string) => place.split(said).length - 1
    for (const place of places)
      for (const said of ['/gone.html', 'id_rsa', 'redirects:1 '])
        expect([said, timesIn(place, said)]).toEqual([said, 1])
    expect(timesIn(text, 'index.html')).toBe(1)
  }, 60_000)

  test.each([
    [
      'a checks file that is wrong',
      { '.svc/checks.yaml': 'startPage: maybe\nchekcs: []\n' },
      '.svc/checks.yaml:2:1',
    ],
    ['a password in _headers', { 'docs/_headers': '/*\n  Basic-Auth: a:b\n' }, 'docs/_headers:2'],
  ])(
    '%s refuses the publish and is named',
    async (_fault, files, place) => {
      write({ 'index.html': 'one', ...files })
      const { code, text } = await publish(`site${count}`, false)
      expect([code, text]).toEqual([1, expect.stringContaining(place)])
    },
    60_000,
  )
})

test('svc deploy --json has the findings of the report', async () => {
  write({ 'home.html': '<a href="/gone.html">x</a>', id_rsa: 'no key' })
  const at = ['deploy', folder, '--project', `acme/site${count}`, '--api-url', server.url]
  const flags = ['--alias', 'production', '--public', '--json']
  const { code, stdout } = await runSvc([...at, ...flags], {
    env: { HOME: '/nonexistent', SVC_API_KEY: key },
  })
  const { report, notes } = JSON.parse(stdout)
  expect([code, report.status]).toEqual([0, 'complete'])
  expect(report.findings).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ kind: 'link-missing', severity: 'warning', file: 'home.html', line: 1 }),
      expect.objectContaining({ kind: 'secret-published', severity: 'error', file: 'id_rsa' }),
      expect.objectContaining({ kind: 'start-page-missing', severity: 'warning' }),
    ]),
  )
  expect(notes).toEqual([expect.objectContaining({ code: 'NO_START_PAGE' })])
}, 60_000)
