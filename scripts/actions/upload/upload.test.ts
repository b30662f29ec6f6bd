import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import {
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
import { parse } from 'yaml'
import {
  failure,
  type ManifestServer,
  startCuttingProxy,
  startManifestServer,
} from '../../../src/cli/testing/manifest-server.ts'

const KEY = 'svc_0123456789'
const NODE = Bun.which('node') ?? process.execPath
const ACTION = join(import.meta.dir, 'index.mjs')
const SHA = '0123456789abcdef0123456789abcdef01234567'
const HEAD_SHA = 'fedcba9876543210fedcba9876543210fedcba98'

let folder: string
let server: ManifestServer

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-action-')))
  server = startManifestServer(KEY)
})

afterEach(() => {
  server.stop()
  rmSync(folder, { recursive: true })
})

function write(path: string, content: string): string {
  const absolute = join(folder, 'work', path)
  mkdirSync(dirname(absolute), { recursive: true })
  writeFileSync(absolute, content)
  return absolute
}

type Run = { code: number; log: string; outputs: Record<string, string>; summary: string }

/** One run of the action as a runner starts it, with the inputs `given` beside address and key. */
async function run(given: Record<string, string>, env: Record<string, string> = {}): Promise<Run> {
  mkdirSync(join(folder, 'work'), { recursive: true })
  for (const name of ['output', 'summary']) writeFileSync(join(folder, name), '')
  const inputs = { 'api-url': server.url, 'api-key': KEY, ...given }
  const child = Bun.spawn([NODE, ACTION], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'] ?? '',
      GITHUB_WORKSPACE: join(folder, 'work'),
      GITHUB_OUTPUT: join(folder, 'output'),
      GITHUB_STEP_SUMMARY: join(folder, 'summary'),
      GITHUB_REPOSITORY: 'acme/site',
      GITHUB_SHA: SHA,
      GITHUB_REF_NAME: 'main',
      GITHUB_REF_TYPE: 'branch',
      GITHUB_EVENT_NAME: 'push',
      GITHUB_WORKFLOW: 'Deploy',
      GITHUB_RUN_ID: '42',
      ...Object.fromEntries(
        Object.entries(inputs).map(([name, text]) => [`INPUT_${name.toUpperCase()}`, text]),
      ),
      ...env,
    },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  const lines = readFileSync(join(folder, 'output'), 'utf8').split('\n').slice(0, -1)
  return {
    code: await child.exited,
    log: stdout + stderr,
    outputs: Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    ),
    summary: readFileSync(join(folder, 'summary'), 'utf8'),
  }
}

/**
 * What an expression over the action's modules gives. It is a text because Node evaluates it, which runs the action, and
 * not Bun, which runs this test.
 */
function evaluate(expression: string): unknown {
  const library = new URL('./lib/', import.meta.url).href
  const program = `const load = (name) => import('${library}' + name + '.mjs')
    console.log(JSON.stringify(await (${expression})()))`
  const { stdout, stderr } = Bun.spawnSync([NODE, '--input-type=module', '-e', program])
  expect(stderr.toString()).toBe('')
  return JSON.parse(stdout.toString())
}

test('action.yml declares the inputs and what a run sets', async () => {
  const action = parse(await Bun.file(join(import.meta.dir, 'action.yml')).text())
  const required = Object.entries<{ required: boolean }>(action.inputs).map(([name, input]) => [
    name,
    input.required,
  ])
  expect(Object.fromEntries(required)).toEqual({
    'api-url': true,
    'api-key': true,
    files: false,
    path: false,
    owner: false,
    repo: false,
    'commit-sha': false,
    alias: false,
    branch: false,
    description: false,
    unwrap: false,
    force: false,
    preview: false,
    expires: false,
    close: false,
    comment: false,
    deployment: false,
    'github-token': false,
  })
  expect(action.inputs['github-token'].default).toBe(`$\{{ github.token }}`)
  write('a.txt', 'one')
  const { outputs } = await run({ files: '**' })
  expect(Object.keys(action.outputs)).toEqual(Object.keys(outputs))
})

test('publishes what the patterns take, and tells the runner', async () => {
  write('dist/index.html', '<h1>hello</h1>')
  write('dist/assets/app.js', 'run()')
  write('dist/assets/app.js.map', '{}')
  write('README.md', 'not this')

  const { code, log, outputs, summary } = await run({
    path: 'dist',
    files: '**\n!**/*.map\n',
    alias: 'production',
  })

  expect(log).not.toContain('::error::')
  expect(code).toBe(0)
  expect(server.site()).toEqual(
    new Map([
      ['assets/app.js', 'run()'],
      ['index.html', '<h1>hello</h1>'],
    ]),
  )
  expect(server.manifests[0]).toMatchObject({
    owner: 'acme',
    repo: 'site',
    commitSha: SHA,
    alias: 'production',
    branch: 'main',
    workflowName: 'Deploy',
    workflowRunId: '42',
  })
  expect(log.startsWith(`::add-mask::${KEY}\n`)).toBe(true)
  expect(outputs).toEqual({
    'deployment-id': 'd1',
    'sha-url': `http://localhost/repo/acme/site/${SHA}/`,
    'alias-url': 'http://production--site--acme.localhost/',
    'preview-url': 'http://0123456789ab--site--acme.localhost/',
    'file-count': '2',
    'total-size': '19',
    published: 'true',
    'preview-name': '',
    environment: 'production',
    'expires-at': '',
    version: '1',
    'release-status': '',
    'report-url': '',
  })
  expect(summary).toContain('### acme/site')
  expect(summary).toContain('http://production--site--acme.localhost/')
  expect(summary).toContain('| Files | 2 |')
})

test('a second run sends nothing', async () => {
  write('a.txt', 'same')
  write('b.txt', 'same')
  await run({ files: '**' })
  await run({ files: '**' })
  expect(server.arrived).toHaveLength(1)
  expect(server.publishedCount()).toBe(2)
})

test('a pull request publishes its head under its branch', async () => {
  write('a.txt', 'one')
  const event = join(folder, 'event.json')
  writeFileSync(event, JSON.stringify({ pull_request: { title: 'Say hello', head: { sha: HEAD_SHA } } }))
  await run(
    { files: '**' },
    {
      GITHUB_EVENT_NAME: 'pull_request',
      GITHUB_EVENT_PATH: event,
      GITHUB_HEAD_REF: 'hello',
      GITHUB_REF_NAME: '7/merge',
    },
  )
  expect(server.manifests[0]).toMatchObject({
    commitSha: HEAD_SHA,
    branch: 'hello',
    description: 'Say hello',
  })
})

test('what the server says besides is said as notices, and unwrap is asked of it', async () => {
  write('site/index.html', 'hi')
  const said = { id: 'd', urls: {} }
  const notes = [
    { code: 'NESTED_FOLDER', message: 'one 100%\n::error::x', path: 'site' },
    null,
    { code: 'X' },
  ]
  server.refusals.push(
    Response.json({ uploadId: 'u', missing: [] }, { status: 201 }),
    Response.json({ success: true, published: true, deployment: said, notes }, { status: 201 }),
  )
  const { code, log } = await run({ files: '**' })
  expect([code, log]).toEqual([0, expect.stringContaining('\n::notice::one 100%25%0A::error::x\n')])
  expect(log).not.toContain('\n::error::')
  await run({ files: '**', unwrap: 'true' })
  await run({ files: '**', unwrap: 'false' })
  expect(server.manifests.map(({ unwrap }) => unwrap)).toEqual([true, undefined])
  const wrong = await run({ files: '**', unwrap: 'yes' })
  expect([wrong.code, wrong.log]).toEqual([1, expect.stringContaining('unwrap is true or false, not yes')])
})

test('everything that is refused is named at once', async () => {
  write('a\\b.txt', 'one')
  write('in/c\\d.txt', 'one')
  symlinkSync('/etc/hostname', join(folder, 'work/in/out'))
  const { code, log } = await run({ files: '**' })
  expect(code).toBe(1)
  expect(log).toMatch(/::error::a\\b\.txt has .*%0Ain\/c\\d\.txt has .*%0Ain\/out is a symbolic link/)
})

test('inputs win over the environment', async () => {
  write('a.txt', 'one')
  const given = { owner: 'bob', repo: 'docs', 'commit-sha': HEAD_SHA, branch: 'next', description: 'Mine' }
  await run({ files: 'a.txt', ...given })
  expect(server.manifests[0]).toMatchObject({
    owner: 'bob',
    repo: 'docs',
    commitSha: HEAD_SHA,
    branch: 'next',
    description: 'Mine',
  })
})

describe('faults', () => {
  test.each([
    ['no file taken', { files: 'dist/**' }, 'No file below'],
    ['no patterns', { files: ' \n' }, 'The input files is required'],
    ['no key', { files: '**', 'api-key': '' }, 'The input api-key is required'],
    ['no address', { files: '**', 'api-url': 'admin.example.com' }, 'The input api-url is no address'],
    ['no folder', { files: '**', path: 'missing' }, 'There is no folder'],
    ['a link out', { files: '**', path: 'linked' }, 'only links to files inside'],
    ['a wrong key', { files: '**', 'api-key': 'svc_wrong' }, 'This API key is unknown'],
  ])('%s', async (_what, given, message) => {
    write('a.txt', 'one')
    write('linked/b.txt', 'two')
    if ('path' in given && given.path === 'linked')
      symlinkSync('/etc/hostname', join(folder, 'work/linked/link'))
    const { code, log, outputs } = await run(given)
    expect(code).toBe(1)
    expect(log).toContain('::error::')
    expect(log).toContain(message)
    expect(outputs).toEqual({})
    expect(server.publishedCount()).toBe(0)
  })

  test.each<[what: string, make: (path: Buffer) => void]>([
    ['file', (path) => writeFileSync(path, 'two')],
    ['folder', (path) => mkdirSync(path)],
  ])('a %s whose name is not in UTF-8 is named in one line', async (_what, make) => {
    write('a\uFFFD.txt', 'a replacement character of its own')
    expect((await run({ files: '**' })).code).toBe(0)
    make(Buffer.concat([Buffer.from(join(folder, 'work', 'f\n')), Buffer.from([0xfc]), Buffer.from('r')]))
    const { code, log } = await run({ files: '**' })
    expect(code).toBe(1)
    expect(log).toBe(`::add-mask::${KEY}\n::error::f%0A\uFFFDr has a name that is not in UTF-8; rename it\n`)
  })

  test('what the machine refuses is one line too', async () => {
    write('a.txt', 'one')
    symlinkSync('loop', join(folder, 'work', 'loop'))
    const { code, log } = await run({ files: '**', path: 'loop' })
    expect(code).toBe(1)
    expect(log).toMatch(/^::add-mask::.*\n::error::ELOOP: .*loop'\n$/)
  })

  test("a server's message gives the runner no commands", async () => {
    write('a.txt', 'one')
    server.refusals = [failure(403, 'Forbidden', 'no\n::set-env name=PATH::/tmp 100%')]
    const { code, log } = await run({ files: '**' })
    expect(code).toBe(1)
    expect(log).toContain('::error::no ::set-env name=PATH::/tmp 100%25\n')
  })

  test('what a strange server says is neither a command nor Markdown', async () => {
    write('index.html', 'hi')
    const evil = '\n ::set-env name=A::1\n##[error]x <img src=x>|'
    const said = (deployment: object, alias: unknown) =>
      Response.json({ success: true, published: true, deployment, alias }, { status: 201 })
    const slot = () => Response.json({ uploadId: 'u', missing: [] }, { status: 201 })
    const urls = { sha: evil, preview: evil, alias: evil }
    server.refusals.push(slot(), said({ id: evil, fileCount: evil, totalSize: {}, urls }, { url: evil }))
    const { code, log, outputs, summary } = await run({ files: '**', alias: 'production' })
    expect(code).toBe(0)
    expect(log).not.toMatch(/^\s*::set-env/m)
    expect(log).not.toContain('##[')
    expect(Object.keys(outputs)).toHaveLength(13)
    expect(outputs).toMatchObject({ 'file-count': '', 'total-size': '' })
    expect(summary).not.toContain('<img')
    expect(summary).not.toMatch(/^\s*::/m)
  })

  test.each<[what: string, deployment: unknown]>([
    ['no addresses', { id: 'd', urls: null }],
    ['addresses that are none', { id: 'd', urls: { sha: {}, preview: 5, alias: [] } }],
  ])('%s: published all the same', async (_what, deployment) => {
    write('index.html', 'hi')
    server.refusals.push(Response.json({ uploadId: 'u', missing: [] }, { status: 201 }))
    server.refusals.push(Response.json({ published: true, deployment, alias: 'x' }, { status: 201 }))
    const { code, outputs } = await run({ files: '**', alias: 'production' })
    expect({ code, ...outputs }).toMatchObject({
      code: 0,
      'deployment-id': 'd',
      'sha-url': '',
      'alias-url': '',
    })
  })

  test('what the server found wrong is said once', async () => {
    write('index.html', 'hi')
    const message = 'commitSha: must be 7 to 64 hexadecimal digits'
    const details = [
      { path: 'commitSha', message: 'must be 7 to 64 hexadecimal digits' },
      { path: 'alias', message: 'too long' },
    ]
    server.refusals.push(Response.json({ error: 'Bad Request', message, details }, { status: 400 }))
    expect((await run({ files: '**' })).log).toContain(`::error::${message}%0A  alias: too long\n`)
    server.refusals.push(
      Response.json({ error: 'Bad Request', message, details: [{ path: 'x', message }] }, { status: 400 }),
    )
    expect((await run({ files: '**' })).log).toContain(`::error::${message}\n`)
  })

  test('a refusal with details that are none, and an answer without an end, are told', async () => {
    write('index.html', 'hi')
    const message = 'm'.repeat(1e6)
    server.refusals.push(
      Response.json(
        { error: 'x', message, details: [null, 5, { path: 'a', message: 'b' }] },
        { status: 400 },
      ),
    )
    const refused = await run({ files: '**' })
    expect(refused.code).toBe(1)
    expect(refused.log).toContain('mm…%0A  a: b\n')
    const piece = new Uint8Array(1024 * 1024).fill(0x78)
    server.refusals.push(new Response(new ReadableStream({ pull: (one) => one.enqueue(piece) })))
    const endless = await run({ files: '**' })
    expect(endless.code).toBe(1)
    expect(endless.log).toContain('::error::The server answered more than any svc does')
  })

  test('a refusal amid the upload is told, not the broken line', async () => {
    write('big.bin', 'x'.repeat(30_000_000))
    server.onManifest = () => server.refusals.push(failure(413, 'Payload Too Large', 'At most 1 MB'))
    const { code, log } = await run({ files: '**' })
    expect(code).toBe(1)
    expect(log).toContain('::error::At most 1 MB')
  })

  test('nobody there', () => {
    const message = evaluate(`async () => {
      const { callApi } = await load('api')
      const call = { method: 'POST', contentType: 'text/plain', body: '', signal: AbortSignal.timeout(60_000) }
      return callApi({ apiUrl: 'http://127.0.0.1:1', apiKey: 'svc_' }, '/', call).catch((error) => error.message)
    }`)
    expect(message).toStartWith('http://127.0.0.1:1 is not reachable: ')
  })

  test('a locked alias is a warning', async () => {
    write('a.txt', 'one')
    server.lockedAliases.add('production')
    const { code, log, outputs } = await run({ files: '**', alias: 'production' })
    expect(code).toBe(0)
    expect(log).toContain('::warning::The alias production is locked')
    expect(outputs).toMatchObject({ 'alias-url': '', published: 'false' })
  })

  test('a cut-off upload goes on where it stopped', async () => {
    for (let index = 0; index < 30; index += 1) write(`${index}.txt`, `${index} `.repeat(50_000))
    const proxy = await startCuttingProxy(server.url, { afterBytes: 1_500_000, times: 1 })
    const { code, log } = await run({ files: '**', 'api-url': proxy.url })
    proxy.stop()
    expect(log).toContain('Trying again in 1 s')
    expect(code).toBe(0)
    expect(server.site().size).toBe(30)
    expect(server.arrived).toHaveLength(30)
    expect(server.manifests).toHaveLength(2)
  })

  test.each([
    ['rewritten', (path: string) => writeFileSync(path, 'two, and longer')],
    ['gone', (path: string) => rmSync(path)],
  ])('a file that is %s before it is sent publishes nothing', async (_how, change) => {
    const path = write('a.txt', 'one')
    server.onManifest = () => change(path)
    const { code, log } = await run({ files: '**' })
    expect(code).toBe(1)
    expect(log).toContain('::error::a.txt c')
    expect(server.manifests).toHaveLength(1)
    expect(server.publishedCount()).toBe(0)
  })

  test('five tries with growing waits; after 429 as long as asked; a refusal is final', () => {
    const outcomes = evaluate(`async () => {
      const { retrying } = await load('retry')
      const { ApiFailure, ServerUnreachable } = await load('failure')
      const outcomes = []
      for (const fault of [
        () => new ServerUnreachable('gone'),
        () => new ApiFailure({ status: 503, message: 'busy' }),
        () => new ApiFailure({ status: 429, message: 'slow', retryAfterMs: 30_000 }),
        () => new ApiFailure({ status: 429, message: 'slow', retryAfterMs: 3_600_000 }),
        () => new ApiFailure({ status: 403, message: 'no' }),
      ]) {
        const waits = []
        const options = { log: () => {}, sleep: async (ms) => waits.push(ms) }
        await retrying(options, async () => { throw fault() }).catch(() => outcomes.push(waits))
      }
      return outcomes
    }`)
    expect(outcomes).toEqual([
      [1_000, 2_000, 4_000, 8_000],
      [1_000, 2_000, 4_000, 8_000],
      [30_000, 30_000, 30_000, 30_000],
      [],
      [],
    ])
  })
})

const globs: [patterns: string[], path: string, taken: boolean][] = [
  [['**'], 'a/b/c.js', true],
  [['**'], 'a', true],
  [['.'], 'a/b', true],
  [['**/*'], 'a.js', true],
  [['*'], 'a.js', true],
  [['*'], 'a/b.js', false],
  [['*.js'], 'a.js', true],
  [['*.js'], 'a/b.js', false],
  [['*.js'], 'axjs', false],
  [['**/*.js'], 'b.js', true],
  [['**/*.js'], 'a/x/b.js', true],
  [['a/**'], 'a/b/c', true],
  [['a/**'], 'a', false],
  [['a/**'], 'ab/c', false],
  [['a/**/c'], 'a/c', true],
  [['a/**/c'], 'a/b/b/c', true],
  [['a/**/**/c'], 'a/b/c', true],
  [['a/**/c'], 'a/bc', false],
  [['a/*/c'], 'a/b/c', true],
  [['a/*/c'], 'a/c', false],
  [['a?.js'], 'ab.js', true],
  [['a?b'], 'a/b', false],
  [['a.{js,css}'], 'a.css', true],
  [['a.{js,css}'], 'a.map', false],
  [['{a,b/{c,d/**}}'], 'b/d/e', true],
  [['{a,b/{c,d/**}}'], 'b/c', true],
  [['{a,b/{c,d/**}}'], 'b', false],
  [['a{b}'], 'a{b}', true],
  [['a{b'], 'a{b', true],
  [['a[1].js'], 'a[1].js', true],
  [['a(1)+$.js'], 'a(1)+$.js', true],
  [['dist'], 'dist/a/b', true],
  [['dist/'], 'dist/a/b', true],
  [['./dist'], 'dist/a', true],
  [['dist'], 'distant', false],
  [['**', '!**/*.map'], 'a/b.map', false],
  [['**', '! *.map'], 'b.map', false],
  [['**', '!a', 'a/keep.js'], 'a/keep.js', true],
  [['**', '!a', 'a/keep.js'], 'a/other.js', false],
  [['!a'], 'b', false],
]

test('glob patterns', () => {
  const answers = evaluate(`async () => {
    const { createMatcher } = await load('glob')
    return ${JSON.stringify(globs)}.map(([patterns, path]) => [patterns, path, createMatcher(patterns)(path)])
  }`)
  expect(answers).toEqual(globs)
})

test('a size of 8 GiB fits the tar header', () => {
  const header = evaluate(`async () => {
    const { tarChunks } = await load('tar')
    const { statSync, truncateSync, writeFileSync } = await import('node:fs')
    const absolutePath = ${JSON.stringify(join(folder, 'sparse'))}
    writeFileSync(absolutePath, '')
    truncateSync(absolutePath, 2 ** 33)
    const { size, mtimeMs } = statSync(absolutePath)
    const file = { path: 'sparse', absolutePath, size, sha256: '0'.repeat(64), modifiedMs: mtimeMs }
    return [...tarChunks([file], () => {}).next().value.subarray(124, 136)]
  }`)
  expect(header).toEqual([0x80, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0])
})
