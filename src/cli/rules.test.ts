import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createOperatorKey } from '../modules/api-keys/service.ts'
import { seedDeployment } from '../testing/seed.ts'
import { listening, type TestApp, testApp } from '../testing/test-app.ts'
import { rulesCommand } from './rules.ts'
import { runCommand } from './run-command.ts'
import { testIo } from './testing/test-io.ts'

const GUESTBOOK = join(import.meta.dir, '../../examples/guestbook')

let app: TestApp
let server: Bun.Server<undefined>
let folder: string
let key: string
let host: string
let project: string
let projectId: string
let counter = 0

beforeAll(async () => {
  app = await testApp({}, { resolve: async () => ['93.184.216.34'] })
  server = listening(app)
})
afterAll(async () => {
  await server.stop(true)
  app.close()
})
beforeEach(async () => {
  counter += 1
  project = `acme/rules${counter}`
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-rules-')))
  const files = { 'index.html': '<h1>hi</h1>' }
  const site = await seedDeployment(app, {
    owner: 'acme',
    repo: `rules${counter}`,
    sha: 'a'.repeat(40),
    alias: 'production',
    files,
  })
  host = site.aliasHost ?? ''
  projectId = site.projectId
  key = createOperatorKey(app.ctx, { name: 'ci', repository: project })
})
afterEach(() => rmSync(folder, { recursive: true }))

async function run(args: string[], env: Record<string, string | undefined> = {}) {
  const given = {
    PATH: process.env['PATH'],
    SVC_API_URL: server.url.origin,
    SVC_API_KEY: key,
    GIT_CEILING_DIRECTORIES: tmpdir(),
    ...env,
  }
  const io = testIo({ env: given, cwd: folder })
  const code = await runCommand({ rules: () => rulesCommand }, ['rules', ...args], io, 'serve')
  return { code, out: io.out(), err: io.err() }
}
const onServer = (args: string[], env = {}) => run([...args, '--project', project], env)

function write(path: string, text: string): void {
  const absolute = join(folder, path)
  mkdirSync(dirname(absolute), { recursive: true })
  writeFileSync(absolute, text)
}
const SET = '.svc/proxy-rules/book'
const answer = (body: string) =>
  `pipeline:\n  steps:\n    - id: a\n      handler: response_handler\n      config: { body: '${body}' }\n`
function writeSet(): void {
  write(`${SET}/ruleset.yaml`, 'name: book\n')
  write(`${SET}/rules/api/a/get.rule.yaml`, answer('1'))
  write('.svc/config.json', JSON.stringify({ ruleSets: [SET] }))
}
const visit = async (path: string) => (await app.call('GET', path, { host })).text()

describe('init', () => {
  test('writes a set that is valid and whose tests pass, and overwrites nothing', async () => {
    expect((await run(['init', 'demo'])).code).toBe(0)
    expect(await run(['validate', '.svc/proxy-rules/demo'])).toMatchObject({ code: 0 })
    expect(await run(['test', '.svc/proxy-rules/demo'])).toMatchObject({ code: 0 })
    write('.svc/proxy-rules/demo/ruleset.yaml', 'name: mine\n')
    const again = await run(['init', 'demo', '--rule', 'GET /find', '--schema', 'things'])
    expect(again.out).toContain('kept  .svc/proxy-rules/demo/ruleset.yaml')
    expect(readFileSync(join(folder, '.svc/proxy-rules/demo/ruleset.yaml'), 'utf8')).toBe('name: mine\n')
    expect(await run(['test', '.svc/proxy-rules/demo'])).toMatchObject({ code: 0 })
  })

  test('takes folders that stand for anything', async () => {
    expect((await run(['init', 'orders', '--rule', 'PUT /api/orders/[id]/[...rest]'])).code).toBe(0)
    expect(await run(['test', '.svc/proxy-rules/orders'])).toMatchObject({ code: 0 })
  })

  test('asks at a terminal for what was not said', async () => {
    const answers = ['asked', '', 'letters']
    const prompts: string[] = []
    const ask = async (prompt: string) => {
      prompts.push(prompt)
      return answers.shift()
    }
    const io = testIo({ cwd: folder, ask })
    expect(await runCommand({ rules: () => rulesCommand }, ['rules', 'init'], io, 'serve')).toBe(0)
    expect(prompts).toEqual(['Name of the rule set: ', 'Rule [POST /api/messages]: ', 'Schema [messages]: '])
    const written = join(folder, '.svc/proxy-rules/asked')
    expect(readFileSync(join(written, 'rules/api/messages/post.rule.yaml'), 'utf8')).toContain(
      '$schema:letters',
    )
  })

  test.each([[[]], [['a', 'b']], [['../a']], [['a', '--rule', 'nonsense']]])(
    '%j is wrong usage',
    async (args) => {
      expect((await run(['init', ...args])).code).toBe(2)
    },
  )
})

describe('files', () => {
  test('validate and build read the sets of the config, and tell every fault at once', async () => {
    writeSet()
    expect(await run(['validate'])).toMatchObject({ code: 0, err: '' })
    const built = JSON.parse((await run(['build', '--prune', '--name-suffix=-pr-1'])).out)
    expect(built).toMatchObject({
      ruleSet: { name: 'book-pr-1' },
      options: { prune: true, dryRun: false, strictSchemas: false },
      source: { path: SET },
    })
    const apart = await run(['build', '--name-suffix', '-pr-1', SET])
    expect(JSON.parse(apart.out).ruleSet.name).toBe('book-pr-1')
    for (const [suffix, name] of [
      ['pr-1', 'book-pr-1'],
      ['dev', 'book-dev'],
      ['-dev', 'book-dev'],
      ['--dev', 'book--dev'],
      ['', 'book'],
    ]) {
      const built = await run(['build', `--name-suffix=${suffix}`, SET])
      expect(JSON.parse(built.out).ruleSet.name).toBe(name)
    }
    expect((await run(['build', '--name-suffix', '--prune'])).code).toBe(2)
    write(`${SET}/rules/api/a/get.rule.yaml`, 'oder: 1\ntimeout: no\n')
    const broken = await run(['push', '--project', project])
    expect(broken.code).toBe(1)
    expect(broken.err).toContain(`${SET}/rules/api/a/get.rule.yaml:1:1 oder is not known here`)
    expect(broken.err).toContain(`${SET}/rules/api/a/get.rule.yaml:2:10 timeout must be a whole number`)
    expect(broken.err).toContain('nothing was sent')
    const json = await run(['validate', '--json'])
    expect(JSON.parse(json.out).problems.length).toBe(3)
    expect((await run(['diff', '--project', project])).code).toBe(2)
  })

  test.each([
    [['validate'], 2],
    [['validate', 'nowhere'], 1],
    [['nonsense'], 2],
    [[], 2],
    [['push', '--nonsense'], 2],
  ])('%j ends with %i', async (args, code) => {
    expect((await run(args)).code).toBe(code)
  })
})

describe('push and diff', () => {
  test('the guestbook goes up, and again as nothing', async () => {
    cpSync(join(GUESTBOOK, '.svc'), join(folder, '.svc'), { recursive: true })
    expect((await onServer(['diff'])).code).toBe(1)
    const dry = await onServer(['push', '--dry-run'])
    expect(dry).toMatchObject({ code: 0 })
    expect(dry.out).toContain('guestbook (would be a new set): would be 10 created')
    const first = await onServer(['push'])
    expect(first.out).toContain('guestbook (a new set): 10 created, 0 updated, 0 deleted, 0 unchanged')
    expect((await onServer(['push'])).out).toContain('0 created, 0 updated, 0 deleted, 10 unchanged')
    expect(await onServer(['diff'])).toMatchObject({ code: 0 })
    expect(await visit('/api/notes')).toBe('[]')
    expect(await visit('/api/notes/page')).toContain('Nobody has left a note yet.')
  })

  test('diff of what the machine refuses is an error and no difference', async () => {
    symlinkSync('loop', join(folder, 'loop'))
    expect(await onServer(['diff', 'loop'])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^svc rules: ELOOP.*\n$/),
    })
  })

  test('diff names what differs', async () => {
    writeSet()
    write(`${SET}/rules/api/b/get.rule.yaml`, answer('1'))
    await onServer(['push'])
    write(`${SET}/rules/api/a/get.rule.yaml`, answer('2'))
    write(`${SET}/rules/api/c/get.rule.yaml`, answer('1'))
    rmSync(join(folder, SET, 'rules/api/b'), { recursive: true })
    const { code, out } = await onServer(['diff'])
    expect(code).toBe(1)
    expect(out).toContain('~ GET /api/a\n')
    expect(out).toContain('- GET /api/b\n')
    expect(out).toContain('+ GET /api/c\n')
    expect((await onServer(['push'])).out).toContain('only on the server: GET /api/b; --prune deletes it')
    const pushed = JSON.parse((await onServer(['push', '--prune', '--json'])).out)
    expect(pushed.ruleSets[0].deleted).toEqual([{ pathPattern: '/api/b', method: 'GET' }])
    expect(await onServer(['diff', '--json'])).toMatchObject({ code: 0 })
  })

  test('diff names a changed schema and what the set is said to be', async () => {
    const schema = (more = '') =>
      write(
        `${SET}/schemas/notes.schema.yaml`,
        `name: notes\nfields:\n  - { name: text, type: string }\n${more}`,
      )
    writeSet()
    schema('  - { name: old, type: string }\n')
    await onServer(['push'])
    schema()
    expect(await onServer(['diff'])).toMatchObject({ code: 0 })
    schema('  - { name: added, type: string }\n')
    write(`${SET}/ruleset.yaml`, 'name: book\ndescription: The book\n')
    const { code, out } = await onServer(['diff'])
    expect({ code, out }).toEqual({ code: 1, out: 'book: differs\n  ~ description\n  ~ schema notes\n' })
    await onServer(['push'])
    expect(await onServer(['diff'])).toMatchObject({ code: 0 })
  })

  test.each([['https://localhost:3000/api/auth'], ['HTTPS://api.example.com/v1']])(
    'a rule for %s, of which the server makes something else, is no drift once it is pushed',
    async (target) => {
      writeSet()
      write(`${SET}/rules/api/auth/[...path]/any.rule.yaml`, `targetUrl: ${target}\n`)
      expect((await onServer(['push'])).code).toBe(0)
      expect(await onServer(['diff'])).toMatchObject({
        code: 0,
        out: 'book: the server has what the files say\n',
      })
    },
  )

  test('a rule whose code was pulled into a file is still the same', async () => {
    const config = { code: 'const handler = () => 1', timeout: 1000, condition: 'true' }
    const steps = [{ id: 'f', handlerType: 'function_handler', config }]
    const pushed = await app.call('PUT', `/api/proxy-rule-sets/project/${projectId}/sync`, {
      key,
      json: { ruleSet: { name: 'book' }, rules: [{ pathPattern: '/f', pipelineConfig: { steps } }] },
    })
    expect(pushed.status).toBe(200)
    await onServer(['pull', 'book'])
    expect(await onServer(['diff', SET])).toMatchObject({ code: 0 })
    expect((await onServer(['push', SET])).out).toContain('0 created, 0 updated, 0 deleted, 1 unchanged')
  })

  test('one refused set keeps all of them from being applied', async () => {
    writeSet()
    write('other/ruleset.yaml', 'name: other\n')
    write('other/rules/x/get.rule.yaml', 'targetUrl: https://10.0.0.1\n')
    const refused = await onServer(['push', SET, 'other'])
    expect(refused).toMatchObject({ code: 1 })
    expect(refused.err.trim().split('\n')).toEqual([
      'svc rules: other: the server refuses the push',
      expect.stringMatching(
        /^ {2}other\/rules\/x\/get\.rule\.yaml: GET \/x: 10\.0\.0\.1 is not a public address/,
      ),
    ])
    expect(await visit('/api/a')).not.toBe('1')
    expect((await onServer(['diff', 'other'])).code).toBe(2)
  })

  test('a refused schema is told by its file', async () => {
    writeSet()
    const schema = (type: string) =>
      write(`${SET}/schemas/notes.schema.yaml`, `name: notes\nfields:\n  - { name: a, type: ${type} }\n`)
    schema('string')
    expect((await onServer(['push', SET])).code).toBe(0)
    schema('integer')
    expect((await onServer(['push', SET, '--strict-schemas'])).err).toBe(
      `svc rules: ${SET}: the server refuses the push\n  ${SET}/schemas/notes.schema.yaml: fields: Schema notes: a is string on the server and integer in the push\n`,
    )
  })

  test('usage, key and reach', async () => {
    writeSet()
    expect((await onServer(['push'], { SVC_API_KEY: undefined })).code).toBe(2)
    expect((await run(['push'])).code).toBe(2)
    expect((await onServer(['push'], { SVC_API_KEY: 'svc_wrong' })).code).toBe(1)
    expect((await onServer(['push'], { SVC_API_URL: 'http://127.0.0.1:1' })).code).toBe(3)
    expect((await onServer(['push', '--api-key', 'x'])).code).toBe(2)
    expect((await onServer(['push', ''])).err).toStartWith('svc rules: the name of the folder is empty\n')
  })
})

test('a project that is not there yet is named, with what makes it', async () => {
  writeSet()
  const { code, err } = await run(['push', '--project', 'acme/nothing'])
  expect(code).toBe(1)
  expect(err).toContain('acme/nothing is no project that this key reaches; make it in the admin')
})

test('without a folder the sets that lie there are an example of one', async () => {
  expect((await run(['test'])).err).toContain('name their folders, or list them as "ruleSets"')
  await run(['init', 'demo'])
  expect((await run(['test'])).err).toContain('name their folders, such as .svc/proxy-rules/demo, or list')
})

describe('pull', () => {
  test('what was pushed comes back, and pushed again changes nothing', async () => {
    cpSync(join(GUESTBOOK, '.svc'), join(folder, 'pushed'), { recursive: true })
    await onServer(['push', 'pushed/proxy-rules/guestbook'])
    expect(await onServer(['pull', 'guestbook'])).toMatchObject({ code: 0, err: '' })
    expect(await onServer(['push', '.svc/proxy-rules/guestbook', '--prune'])).toMatchObject({ code: 0 })
    expect((await onServer(['push', '.svc/proxy-rules/guestbook', '--prune'])).out).toContain(
      '0 created, 0 updated, 0 deleted, 10 unchanged',
    )
    expect((await onServer(['pull', 'guestbook'])).out).toContain('guestbook: unchanged')
  })

  test('a rule that was made a proxy by hand comes without the pipeline that it had', async () => {
    writeSet()
    write(`${SET}/rules/api/f/get.rule.yaml`, answer('1'))
    await onServer(['push'])
    const listed = await app.call('GET', `/api/proxy-rule-sets/project/${projectId}`, { key })
    const set = await app.call('GET', `/api/proxy-rule-sets/${(await listed.json()).ruleSets[0].id}`, { key })
    const [first, second] = (await set.json()).rules
    const proxy = { proxyType: 'external_proxy', targetUrl: 'https://api.example.com' }
    for (const [{ id }, more] of [[first, {}] as const, [second, { pipelineConfig: { old: 1 } }] as const])
      await app.call('PATCH', `/api/proxy-rules/${id}`, { key, json: { ...proxy, ...more } })
    expect(await onServer(['pull', 'book'])).toMatchObject({ code: 0 })
    expect(await run(['validate', SET])).toMatchObject({ code: 0, err: '' })
    expect((await onServer(['push', SET])).code).toBe(0)
    expect(await onServer(['diff', SET])).toMatchObject({ code: 0 })
  })

  test('leaves what says the same as it was written, and deletes only when told', async () => {
    cpSync(join(GUESTBOOK, '.svc'), join(folder, '.svc'), { recursive: true })
    await onServer(['push'])
    expect((await onServer(['pull', 'guestbook'])).out).toContain('guestbook: unchanged')
    write('.svc/proxy-rules/guestbook/rules/x/get.rule.yaml', answer('1'))
    const pulled = await onServer(['pull', 'guestbook'])
    expect(pulled.out).toContain('only in the files: rules/x/get.rule.yaml')
    expect((await onServer(['pull', 'guestbook', '--prune'])).out).toContain('1 deleted')
    expect(await onServer(['diff'])).toMatchObject({ code: 0 })
  })

  test('refuses to write over files that are wrong, and names unknown sets', async () => {
    writeSet()
    await onServer(['push'])
    write(`${SET}/ruleset.yaml`, 'nme: book\n')
    expect((await onServer(['pull', 'book'])).code).toBe(1)
    expect(readFileSync(join(folder, SET, 'ruleset.yaml'), 'utf8')).toBe('nme: book\n')
    expect((await onServer(['pull', 'nothing'])).code).toBe(1)
    expect((await onServer(['pull'])).code).toBe(2)
  })
})

test('a failing test is told with its place, and ends with 1', async () => {
  writeSet()
  write(`${SET}/rules/api/a/get.rule.test.yaml`, 'tests:\n  - name: is two\n    expect: { body: 2 }\n')
  const { code, out } = await run(['test'])
  expect(code).toBe(1)
  expect(out).toContain(`FAIL  ${SET}/rules/api/a/get.rule.test.yaml:2:5:1 is two`.replace(':5:1', ':1'))
  write(`${SET}/rules/api/a/get.rule.test.yaml`, 'tests:\n  - name: x\n    expct: {}\n')
  expect((await run(['test'])).code).toBe(1)
})

test('a test may spell the path of its rule in another way', async () => {
  writeSet()
  const request =
    "tests:\n  - name: spelled\n    request: { path: '/%61pi/%61' }\n    expect: { status: 200 }\n"
  write(`${SET}/rules/api/a/get.rule.test.yaml`, request)
  expect(await run(['test'])).toMatchObject({ code: 0 })
})

test('names that stand for nothing are warned of once, with their line, and hinder no push', async () => {
  writeSet()
  write(`${SET}/rules/api/a/get.rule.yaml`, answer('{{steps.b}} {{user.name}}'))
  const place = `${SET}/rules/api/a/get.rule.yaml:5:23 pipeline.steps[0].config.body`
  const warnings = [
    `warning: ${place} names the output of a step b, but no earlier step has that id; earlier steps: none`,
    `warning: ${place} names user.name, but user has only id, email, role`,
    '',
  ].join('\n')
  expect(await run(['validate'])).toEqual({
    code: 0,
    out: expect.stringContaining('all valid'),
    err: warnings,
  })
  const pushed = await onServer(['push', '--json'])
  expect([pushed.code, pushed.err]).toEqual([0, warnings])
  expect(JSON.parse(pushed.out).ruleSets[0].warnings).toHaveLength(2)
  write(`${SET}/rules/api/a/get.rule.yaml`, answer('{{steps.c}}').replace('a\n', 'b\n'))
  const { err } = await onServer(['push'])
  expect(err.match(/names the output of a step c/g)).toHaveLength(1)
})

test('mails are part of what a test expects, those of post steps too', async () => {
  writeSet()
  write(
    `${SET}/rules/api/a/get.rule.yaml`,
    `pipeline:
  steps:
    - { id: m, handler: email_handler, config: { to: input.to, subject: First, body: One } }
  postSteps:
    - { id: n, handler: email_handler, config: { to: b@x.ch, subject: Second, body: 'Two {{input.to}}' } }
`,
  )
  const mails = "mails: [{ to: [a@x.ch], subject: First }, { text: 'Two a@x.ch' }]"
  const one = (name: string, to: string, expect: string) =>
    `  - { name: ${name}, request: { query: { to: ${to} } }, expect: { ${expect} } }\n`
  const cases = [
    one('both', 'a@x.ch', `status: 200, ${mails}`),
    one('two', 'a@x.ch', 'mails: 2'),
    one('none', 'nobody', 'status: 400, mails: 0'),
    one('wrong', 'c@x.ch', mails),
    one('few', 'a@x.ch', 'mails: 1'),
    one('odd', 'a@x.ch', 'mails: none'),
  ]
  write(`${SET}/rules/api/a/get.rule.test.yaml`, `tests:\n${cases.slice(0, 5).join('')}`)
  const { code, out } = await run(['test'])
  expect(code).toBe(1)
  expect(out).toContain('3 tests passed, 2 failed')
  expect(out).toContain('wrong: mails[0].to[0] is "c@x.ch", not "a@x.ch"')
  expect(out).toContain('few: 2 mails were sent, not 1')
  write(`${SET}/rules/api/a/get.rule.test.yaml`, `tests:\n${cases[5]}`)
  expect((await run(['test'])).err).toContain('mails must be a number, or a list of mails')
})

test('one person may have another role in each test', async () => {
  writeSet()
  const who = (role: string, status: number) =>
    `  - { name: '${role} ${status}', user: { email: ann@x.ch, ${role} }, expect: { status: ${status} } }\n`
  write(
    `${SET}/rules/api/a/get.rule.yaml`,
    `pipeline:\n  validators: [{ type: auth_required, config: { roles: [owner] } }]\n  steps: []\n`,
  )
  write(
    `${SET}/rules/api/a/get.rule.test.yaml`,
    `tests:\n${who('role: owner', 200)}${who('role: admin', 403)}${who('globalRole: admin', 200)}${who('globalRole: user', 403)}`,
  )
  const { code, out } = await run(['test'])
  expect(out).toContain('4 tests passed, 0 failed')
  expect(code).toBe(0)
})
