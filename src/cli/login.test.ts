import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { seedDeployment } from '../testing/seed.ts'
import { seedMember } from '../testing/seed-people.ts'
import { listening, type TestApp, testApp } from '../testing/test-app.ts'
import type { Commands, Io } from './command.ts'
import { deployCommand } from './deploy.ts'
import { explainCommand } from './explain.ts'
import { listCommand } from './list.ts'
import { loginCommand } from './login.ts'
import { logoutCommand } from './logout.ts'
import { rulesCommand } from './rules.ts'
import { runCommand } from './run-command.ts'
import { testIo } from './testing/test-io.ts'

/** `svc login` and `svc logout` against a server on a port, and the file between them. contract 16 §7. */
const commands: Commands = {
  login: () => loginCommand,
  deploy: () => deployCommand,
  logout: () => logoutCommand,
  list: () => listCommand,
  rules: () => rulesCommand,
  explain: () => explainCommand,
}

let app: TestApp
let server: Bun.Server<undefined>
let home = ''
let person = ''
let url = ''
let file = ''
let siteHost = ''

beforeEach(async () => {
  app = await testApp()
  const site = await seedDeployment(app, {
    owner: 'acme',
    repo: 'docs',
    sha: 'a'.repeat(40),
    alias: 'production',
    files: { 'index.html': 'x' },
  })
  siteHost = site.aliasHost ?? ''
  person = await seedMember(app, site.projectId, 'contributor')
  server = listening(app)
  url = `http://127.0.0.1:${server.port}`
  home = mkdtempSync(join(tmpdir(), 'svc-home-'))
  file = join(home, 'svc', 'credentials.json')
})
afterEach(async () => {
  await server.stop(true)
  app.close()
  rmSync(home, { recursive: true })
})

async function run(line: string, given: Partial<Io> = {}, env: Record<string, string> = {}) {
  const io = testIo({ env: { SVC_API_URL: url, XDG_CONFIG_HOME: home, ...env }, cwd: '/', ...given })
  const code = await runCommand(commands, line.split(' '), io, 'list')
  return { code, out: io.out(), err: io.err(), opened: io.opened, waits: io.waits }
}

/** What the person does in the browser, while the command waits for the `at`th time. */
function decides(approve: boolean, at = 1): Partial<Io> {
  let waits = 0
  return {
    async sleep(ms) {
      app.advance(ms)
      waits += 1
      if (waits !== at) return
      const codes = shown.match(/[B-Z]{4}-[B-Z]{4}/)?.[0]
      await app.call('POST', '/api/auth/device/approve', { as: person, json: { userCode: codes, approve } })
    },
    stdout: {
      write(text) {
        shown += text
      },
      put: async (bytes) => bytes.length,
    },
  }
}
let shown = ''
beforeEach(() => {
  shown = ''
})

const logIn = async () => {
  shown = ''
  expect((await run('login', decides(true))).code).toBe(0)
}
const stored = () =>
  JSON.parse(readFileSync(file, 'utf8')) as Record<string, { token: string; email: string }>

describe('svc login', () => {
  test('shows page and code, opens the page, waits, and keeps what it got for that origin alone', async () => {
    const { code, opened } = await run('login', decides(true, 3))
    const userCode = shown.match(/[B-Z]{4}-[B-Z]{4}/)?.[0]
    expect([code, opened]).toEqual([0, [`${app.ctx.adminUrl()}/device?code=${userCode}`]])
    expect(shown).toBe(
      `open ${app.ctx.adminUrl()}/device and enter the code ${userCode}\nlogged in to ${url} as ${person}; kept in ${file}\n`,
    )
    expect(stored()).toEqual({
      [url]: {
        token: expect.stringMatching(/^svcp_[\w-]{43}$/),
        email: person,
        createdAt: expect.any(String),
      },
    } as never)
    expect([statSync(file).mode & 0o777, statSync(dirname(file)).mode & 0o777]).toEqual([0o600, 0o700])
  })

  test('as JSON: a line with the code, then one with the outcome; --no-browser opens none', async () => {
    const { code, opened } = await run('login --json --no-browser', decides(true))
    const [first, second] = shown
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect([code, opened]).toEqual([0, []])
    expect(first).toEqual({
      userCode: expect.stringMatching(/^\w{4}-\w{4}$/),
      verificationUri: `${app.ctx.adminUrl()}/device`,
      expiresIn: 600,
    })
    expect(second).toEqual({ apiUrl: url, email: person, file })
  })

  test('denied and expired are 1, and leave no file', async () => {
    const denied = await run('login', decides(false))
    expect([denied.code, denied.err]).toEqual([1, 'svc login: it was refused in the browser\n'])
    const expired = await run('login', { sleep: async (ms) => app.advance(ms) })
    expect([expired.code, expired.err]).toEqual([1, expect.stringContaining('nobody decided in time')])
    expect(existsSync(file)).toBe(false)
  })

  test('no server is 2, none that answers 3, one that is no svc 1', async () => {
    expect((await run('login', {}, { SVC_API_URL: '' })).code).toBe(2)
    expect((await run('login now')).code).toBe(2)
    expect((await run('login --api-url http://127.0.0.1:9')).code).toBe(3)
    const strange = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => Response.json(EVIL) })
    const { code, opened } = await run(`login --api-url http://127.0.0.1:${strange.port}`)
    await strange.stop(true)
    expect([code, opened]).toEqual([1, []])
  })
})

/** A page that is a program. */
const EVIL = {
  device_code: 'x',
  user_code: 'BCDF-GHJK',
  verification_uri: 'file:///bin/sh',
  verification_uri_complete: 'file:///bin/sh',
  expires_in: 600,
  interval: 5,
}

describe('the login', () => {
  test('serves list, rules and explain, after the keys that they take', async () => {
    await logIn()
    expect(JSON.parse((await run('list --project acme/docs --json')).out).deployments).toHaveLength(1)
    const explained = await run(`explain http://${siteHost}/ --json`)
    expect(JSON.parse(explained.out)).toMatchObject({ outcome: { status: 200 } })
    expect((await run('rules pull nothing --project acme/docs')).err).not.toContain('no API key')
    const keys: Record<string, string>[] = [{ SVC_API_KEY: 'svc_wrong' }]
    for (const env of keys) expect((await run('list --project acme/docs', {}, env)).code).toBe(1)
    expect((await run('list --project acme/docs --api-key svc_wrong')).code).toBe(1)
  })

  test('goes to exactly its origin', async () => {
    await logIn()
    const seen: (string | null)[] = []
    const other = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch(request) {
        seen.push(request.headers.get('x-api-key'))
        return Response.json({})
      },
    })
    for (const address of [`http://127.0.0.1:${other.port}`, `http://localhost:${server.port}`]) {
      const { code, err } = await run(`list --project acme/docs --api-url ${address}`)
      expect([code, err]).toEqual([2, expect.stringContaining('or run svc login')])
    }
    await other.stop(true)
    expect(seen).toEqual([])
  })

  test('that is replaced, or cannot be kept, leaves no session behind', async () => {
    const open = () => app.ctx.db.sqlite.query('SELECT count(*) AS n FROM cli_sessions').get()
    await logIn()
    const first = stored()[url]?.token
    await logIn()
    expect([stored()[url]?.token === first, open()]).toEqual([false, { n: 1 }])
    const spoilt = decides(true)
    const sleep = async (ms: number) => {
      await spoilt.sleep?.(ms)
      chmodSync(file, 0o644)
    }
    shown = ''
    expect((await run('login', { ...spoilt, sleep })).code).toBe(2)
    expect(open()).toEqual({ n: 1 })
  })

  test('that was ended on the account says so', async () => {
    await logIn()
    app.ctx.db.sqlite.run('DELETE FROM sessions WHERE id IN (SELECT session_id FROM cli_sessions)')
    const { code, err } = await run('list --project acme/docs')
    expect([code, err]).toEqual([1, expect.stringContaining('run svc login again')])
  })
})

describe('svc logout', () => {
  test('ends the session, and takes out that entry alone', async () => {
    await logIn()
    const other = { token: 'svcp_other', email: 'x@example.com', createdAt: '' }
    writeFileSync(file, JSON.stringify({ ...stored(), 'https://other.example': other }))
    const token = stored()[url]?.token ?? ''
    const { code, out } = await run('logout --json')
    expect([code, JSON.parse(out)]).toEqual([0, { apiUrl: url, email: person }])
    expect(Object.keys(stored())).toEqual(['https://other.example'])
    expect((await app.call('GET', '/api/projects', { key: token })).status).toBe(401)
    expect((await run('logout')).out).toContain('there was no login')
  })

  test('of a session that ended already is done; of a server that is away nothing changes', async () => {
    await logIn()
    const elsewhere = { ...stored()[url] }
    writeFileSync(file, JSON.stringify({ ...stored(), 'http://127.0.0.1:9': elsewhere }))
    app.ctx.db.sqlite.run('DELETE FROM cli_sessions')
    app.ctx.db.sqlite.run('UPDATE site_generation SET access = access + 1')
    expect((await run('logout')).code).toBe(0)
    expect((await run('logout --api-url http://127.0.0.1:9')).code).toBe(3)
    expect(Object.keys(stored())).toEqual(['http://127.0.0.1:9'])
  })
})

describe('attack: the file of the credentials', () => {
  const place: [what: string, make: () => void, says: string][] = [
    ['is a link', () => symlinkSync(join(home, 'elsewhere'), file), 'is a link'],
    [
      'is a link to a good one',
      () => {
        writeFileSync(join(home, 'elsewhere'), '{}', { mode: 0o600 })
        symlinkSync(join(home, 'elsewhere'), file)
      },
      'is a link',
    ],
    ['is a folder', () => mkdirSync(file), 'is no file'],
    ['is readable by the group', () => writeWith(0o640), 'chmod 600 '],
    ['is readable by all', () => writeWith(0o604), 'chmod 600 '],
    ['is writable by others', () => writeWith(0o602), 'chmod 600 '],
    [
      'lies where others may write',
      () => {
        writeWith(0o600)
        chmodSync(dirname(file), 0o777)
      },
      'chmod 700 ',
    ],
    ['is no JSON', () => writeFileSync(file, '{', { mode: 0o600 }), 'is not what svc login wrote'],
    ['is other JSON', () => writeFileSync(file, '{"x":1}', { mode: 0o600 }), 'is not what svc login wrote'],
  ]
  const writeWith = (mode: number): void => {
    writeFileSync(file, '{}')
    chmodSync(file, mode)
  }
  test.each(place)('%s: 2, and nothing is sent', async (_what, make, says) => {
    mkdirSync(dirname(file))
    make()
    for (const line of ['login', 'logout', 'list --project acme/docs']) {
      const { code, err, opened } = await run(line)
      expect([line, code, err, opened]).toEqual([line, 2, expect.stringContaining(says), []])
    }
    expect(app.ctx.db.sqlite.query('SELECT count(*) AS n FROM device_logins').get()).toEqual({ n: 0 })
  })

  test('a folder that is a link is refused', async () => {
    mkdirSync(join(home, 'elsewhere'))
    symlinkSync(join(home, 'elsewhere'), join(home, 'svc'))
    expect((await run('login', decides(true))).code).toBe(2)
    expect(app.ctx.db.sqlite.query('SELECT count(*) AS n FROM device_logins').get()).toEqual({ n: 0 })
  })
})

test('svc deploy takes the login, after --api-key and SVC_API_KEY', async () => {
  await logIn()
  const folder = join(home, 'site')
  mkdirSync(folder)
  writeFileSync(join(folder, 'index.html'), 'from the login')
  const deploy = `deploy ${folder} --project acme/docs --alias production --json`
  const { code } = await run(deploy)
  expect(code).toBe(0)
  expect(await (await app.call('GET', '/', { host: siteHost })).text()).toBe('from the login')
  expect((await run(deploy, {}, { SVC_API_KEY: 'svc_wrong' })).code).toBe(1)
  expect((await run(`${deploy} --api-key svc_wrong`)).code).toBe(1)
})
