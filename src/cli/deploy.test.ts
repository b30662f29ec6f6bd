import { describe, expect, test } from 'bun:test'
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deployCommand } from './deploy.ts'
import { runCommand } from './run-command.ts'
import { deployFixture } from './testing/deploy-fixture.ts'
import { failure } from './testing/manifest-server.ts'
import { testIo } from './testing/test-io.ts'

const at = deployFixture()
const sha256 = (text: string) => new Bun.CryptoHasher('sha256').update(text).digest('hex')

test('publishes the folder and prints the URLs', async () => {
  at.write('index.html', '<h1>hello</h1>')
  at.write('assets/app.js', 'run()')
  at.write('empty.txt', '')

  const { code, out } = await at.deploy(['--sha', 'ABCDEF1234', '--alias', 'production', '--branch', 'main'])

  expect(code).toBe(0)
  expect(at.server.site()).toEqual(
    new Map([
      ['assets/app.js', 'run()'],
      ['empty.txt', ''],
      ['index.html', '<h1>hello</h1>'],
    ]),
  )
  expect(at.server.manifests[0]).toMatchObject({
    owner: 'acme',
    repo: 'site',
    commitSha: 'abcdef1234',
    alias: 'production',
    branch: 'main',
  })
  expect(out()).toContain('http://production--site--acme.localhost/')
  expect(out()).toContain('http://localhost/repo/acme/site/abcdef1234/')
})

test('leaves out what the server leaves out', async () => {
  for (const path of ['.env', '.git/config', 'node_modules/a/i.js', '__MACOSX/x', 'a/.hidden', '.svc/config'])
    at.write(path, path)
  at.write('.well-known/security.txt', 'mail us')
  at.write('.well-known/.secret', 'no')
  at.write('a/kept', 'yes')

  await at.deploy()

  expect([...at.server.site().keys()]).toEqual(['.well-known/security.txt', 'a/kept'])
})

test('many files, hashed on two threads: a large and an empty one, too', async () => {
  const paths = Array.from({ length: 700 }, (_, index) => `part-${index % 7}/${index}.txt`)
  for (const path of paths) at.write(path, `this is ${path}`)
  at.write('large.txt', '1'.repeat(1_500_000))
  at.write('empty.txt', '')
  const { code, out } = await at.deploy(['--dry-run', '--json'])
  expect(code).toBe(0)
  const { files } = JSON.parse(out())
  expect(files).toHaveLength(702)
  for (const { path, size, sha256: said } of files) {
    const bytes = readFileSync(join(at.folder, path))
    expect([path, size, said]).toEqual([path, bytes.length, Bun.SHA256.hash(bytes, 'hex')])
  }
  expect((await at.deploy()).code).toBe(0)
  expect(at.server.site().get('part-3/10.txt')).toBe('this is part-3/10.txt')
})

test('sends equal contents once, and a second time nothing', async () => {
  at.write('a.txt', 'same')
  at.write('b.txt', 'same')
  const first = await at.deploy(['--json'])
  const second = await at.deploy(['--json'])

  expect(at.server.arrived).toEqual([sha256('same')])
  expect(JSON.parse(first.out()).sent).toEqual({ files: 1, bytes: 4 })
  expect(JSON.parse(second.out()).sent).toEqual({ files: 0, bytes: 0 })
  expect(at.server.publishedCount()).toBe(2)
})

test('outside git the SHA is that of the manifest', async () => {
  at.write('b.txt', 'two')
  at.write('a.txt', 'one')
  await at.deploy()
  expect(at.server.manifests[0]?.commitSha).toBe(sha256(`${sha256('one')}  a.txt\n${sha256('two')}  b.txt\n`))
})

function git(...args: string[]): string {
  const identity = ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com', '-c', 'commit.gpgsign=false']
  const { stdout, success } = Bun.spawnSync(['git', '-C', at.folder, ...identity, ...args], {
    env: { PATH: process.env['PATH'] },
  })
  expect(success).toBe(true)
  return stdout.toString().trim()
}

test('what is not committed and goes under HEAD all the same is said before anything is sent', async () => {
  for (const name of ['index.html', 'a.txt', 'b.txt']) at.write(name, 'one')
  git('init', '--quiet')
  git('add', '--all')
  git('commit', '--quiet', '--message=first')
  const env = { SVC_API_URL: at.server.url, SVC_API_KEY: at.key, PATH: process.env['PATH'] }
  const deploy = async (...args: string[]) => {
    const io = testIo({ env, cwd: at.folder })
    const given = ['deploy', '.', '--project=ann/pages', ...args]
    expect(await runCommand({ deploy: () => deployCommand }, given, io, 'serve')).toBe(0)
    return io.err()
  }
  expect(await deploy()).not.toContain('not committed')
  at.write('index.html', 'two')
  rmSync(join(at.folder, 'b.txt'))
  const note = `there are changes that are not committed (b.txt and 1 more), and this goes under the commit ${git('rev-parse', 'HEAD').slice(0, 12)} all the same`
  const said = await deploy()
  expect(said).toContain(note)
  expect(said.indexOf(note)).toBeLessThan(said.indexOf('sending'))
  expect(await deploy('--dry-run')).toContain(note)
  expect(await deploy('--sha', 'f'.repeat(40))).not.toContain('not committed')
})

test('the SHA, branch and message come from git', async () => {
  at.write('a.txt', 'one')
  git('init', '--quiet', '--initial-branch=trunk')
  git('commit', '--quiet', '--allow-empty', '--message=Say hello\n\nAt length.')
  git('remote', 'add', 'origin', 'git@example.com:ann/pages.git')
  const head = git('rev-parse', 'HEAD')
  const env = { SVC_API_URL: at.server.url, SVC_API_KEY: at.key, PATH: process.env['PATH'] }
  const io = testIo({ env, cwd: '/' })

  const code = await runCommand({ deploy: () => deployCommand }, ['deploy', at.folder], io, 'serve')

  expect(code).toBe(0)
  expect(at.server.manifests[0]).toMatchObject({
    owner: 'ann',
    repo: 'pages',
    commitSha: head,
    branch: 'trunk',
    description: 'Say hello',
  })
})

describe('output', () => {
  test('what the server found wrong is said once', async () => {
    at.write('a.txt', 'one')
    const [alias, branch] = [
      { path: 'alias', message: 'too long' },
      { path: 'branch', message: 'too short' },
    ]
    const refuse = (...details: object[]) =>
      at.server.refusals.push(
        Response.json({ message: 'alias: too long', error: 'Bad Request', details }, { status: 400 }),
      )
    refuse(alias)
    expect((await at.deploy()).err()).toEndWith('svc deploy: alias: too long\n')
    refuse({ path: 'alias', message: 'alias: too long' })
    expect((await at.deploy()).err()).toEndWith('svc deploy: alias: too long\n')
    refuse(alias, branch)
    expect((await at.deploy()).err()).toEndWith('svc deploy: alias: too long\n  branch: too short\n')
  })

  test('--json prints the answer and nothing else on stdout', async () => {
    at.write('a.txt', 'one')
    const { code, out } = await at.deploy(['--json', '--alias', 'production'])
    expect(code).toBe(0)
    expect(JSON.parse(out())).toMatchObject({
      success: true,
      published: true,
      deployment: { fileCount: 1 },
      urls: { alias: 'http://production--site--acme.localhost/' },
      sent: { files: 1, bytes: 3 },
    })
  })

  test('--json tells a refusal too', async () => {
    at.write('a.txt', 'one')
    at.server.refusals = [failure(403, 'Forbidden', 'This key is for another project')]
    const { code, out, err } = await at.deploy(['--json'])
    expect(code).toBe(1)
    expect(JSON.parse(out())).toEqual({
      success: false,
      exitCode: 1,
      message: 'This key is for another project',
    })
    expect(err()).toContain('This key is for another project')
  })

  test('a locked alias is said to be locked', async () => {
    at.write('a.txt', 'one')
    at.server.lockedAliases.add('production')
    const { code, out, err } = await at.deploy(['--alias', 'production'])
    expect(code).toBe(0)
    expect(err()).toContain('production is locked')
    expect(out()).not.toContain('production--')
  })

  test.each([
    [true, true],
    [false, false],
  ])('a bar on a terminal (%p), lines elsewhere', async (isTerminal, hasBar) => {
    at.write('a.bin', 'x'.repeat(700_000))
    let clockMs = 0
    const nowMs = () => {
      clockMs += 1_000
      return clockMs
    }
    const { out, err } = await at.deploy([], { isTerminal, nowMs })
    expect(err().includes('\r')).toBe(hasBar)
    expect(err()).toContain('sending')
    expect(out()).not.toContain('sending')
  })

  test('--dry-run lists the files and asks the server nothing', async () => {
    at.write('a.txt', 'one')
    const plain = await at.deploy(['--dry-run'], { env: {} })
    const json = await at.deploy(['--dry-run', '--json', '--sha', 'abcdef1'])
    expect(plain.code).toBe(0)
    expect(plain.out()).toContain('a.txt')
    expect(JSON.parse(json.out())).toEqual({
      dryRun: true,
      apiUrl: at.server.url,
      owner: 'acme',
      repo: 'site',
      commitSha: 'abcdef1',
      fileCount: 1,
      totalSize: 3,
      files: [{ path: 'a.txt', size: 3, sha256: sha256('one') }],
    })
    expect(at.server.requests).toEqual([])
  })
})

test('--dry-run compiles the routing files and prints what is refused', async () => {
  at.write('_redirects', '/a /b\n/bad\n/x https://127.0.0.1/ 200\n')
  at.write('_headers', '/*\n  X-A: b\n')
  const plain = await at.deploy(['--dry-run'])
  expect([plain.code, plain.err()]).toEqual([
    0,
    expect.stringContaining('_redirects:2 the line has no target'),
  ])
  const json = JSON.parse((await at.deploy(['--dry-run', '--json'])).out())
  expect(json.routing).toMatchObject({
    redirects: 2,
    headers: 1,
    refused: 1,
    problems: [{ file: '_redirects', line: 2 }],
  })
  at.write('docs/_headers', '/*\n  Basic-Auth: a:b\n')
  const refused = await at.deploy(['--dry-run'])
  expect([refused.code, refused.err()]).toEqual([1, expect.stringContaining('docs/_headers:2')])
})

test.each([
  ['a backslash', 'a\\b.txt', 'has a \\ in its name'],
  ['a line end', 'a\nb.txt', 'control characters'],
  ['a drive letter', 'C:b.txt', 'drive letter'],
])('%s in a name is refused before anything is sent', async (_what, name, message) => {
  at.write(name, 'one')
  const { code, err } = await at.deploy()
  expect(code).toBe(1)
  expect(err()).toContain(message)
  expect(at.server.requests).toEqual([])
})

test('everything that is refused in a folder is named at once', async () => {
  at.write('good.txt', 'one')
  at.write('C:b.txt', 'one')
  at.write('in/a\\b.txt', 'one')
  at.write('in/a\u0007b.txt', 'one')
  symlinkSync('/etc/hostname', join(at.folder, 'in/out'))
  symlinkSync('missing', join(at.folder, 'nowhere'))
  symlinkSync('/etc/hostname', join(at.folder, '.left-out'))
  const { code, err } = await at.deploy()
  expect(code).toBe(1)
  expect(
    err()
      .split('\n')
      .map((line) => line.replace(/^svc deploy: /, '').split(/[: ]/, 1)[0]),
  ).toEqual(['C', 'in/a', 'in/a\\b.txt', 'in/out', 'nowhere', ''])
  expect(at.server.requests).toEqual([])
})

test('names are sent composed, and two that differ only in that are refused', async () => {
  at.write('caf\u0065\u0301.txt', 'one')
  await at.deploy()
  expect([...at.server.site().keys()]).toEqual(['caf\u00e9.txt'])
  at.write('caf\u00e9.txt', 'two')
  const keepsBoth = readdirSync(at.folder).length === 2 // not so on every file system
  const { code, err } = await at.deploy()
  expect(code).toBe(keepsBoth ? 1 : 0)
  expect(err().includes('exists twice')).toBe(keepsBoth)
})

test('a name that is not in UTF-8 is refused as such; one with a replacement character of its own is not', async () => {
  at.write('a\uFFFD.txt', 'one')
  const named = (start: string) =>
    Buffer.concat([Buffer.from(`${at.folder}/${start}`), Buffer.from([0xfc]), Buffer.from('r')])
  writeFileSync(named('.left-out-'), 'whatever its name is')
  expect((await at.deploy()).code).toBe(0)
  const latin1 = named('f')
  for (const make of [mkdirSync, (path: Buffer) => writeFileSync(path, 'two')]) {
    make(latin1)
    const { code, err } = await at.deploy()
    expect([code, err()]).toEqual([
      1,
      expect.stringContaining('f\uFFFDr has a name that is not in UTF-8; rename it'),
    ])
    rmSync(latin1, { recursive: true })
  }
})

test('a folder without a start page is published, and it is said that there is none', async () => {
  const note = 'there is no index.html at the top of'
  at.write('dist/index.html', '<h1>hello</h1>')
  const { code, err } = await at.deploy()
  expect([code, err()]).toEqual([0, expect.stringContaining(note)])
  at.write('index.html', '<h1>hello</h1>')
  expect((await at.deploy()).err()).not.toContain(note)
})

test('an empty folder is not published', async () => {
  at.write('.env', 'SECRET=1')
  const { code, err } = await at.deploy()
  expect(code).toBe(1)
  expect(err()).toContain('holds nothing to publish')
})

describe('links', () => {
  test('to a file inside the folder is followed', async () => {
    at.write('v1/app.js', 'run()')
    symlinkSync('v1/app.js', join(at.folder, 'app.js'))
    await at.deploy()
    expect(at.server.site().get('app.js')).toBe('run()')
  })

  test.each([
    ['out of the folder', '/etc/hostname'],
    ['to a folder', 'inner'],
    ['nowhere', 'missing'],
  ])('%s is refused by name', async (_kind, target) => {
    at.write('inner/a.txt', 'one')
    symlinkSync(target, join(at.folder, 'link'))
    const { code, err } = await at.deploy()
    expect(code).toBe(1)
    expect(err()).toContain('link is a symbolic link')
    expect(at.server.requests).toEqual([])
  })
})

test.each([
  ['no folder named', ['deploy']],
  ['a folder that is not there', ['deploy', '/nonexistent/dist', '--project', 'a/b']],
  ['two folders', ['deploy', '.', 'dist', '--project', 'a/b']],
  ['a flag that is unknown', ['deploy', '.', '--prod']],
  ['a flag without its value', ['deploy', '.', '--sha']],
  ['an empty folder name', ['deploy', '', '--project', 'a/b']],
  ['a project without repo', ['deploy', '.', '--project', 'acme']],
  ['no project at all', ['deploy', '.']],
  ['a SHA that is none', ['deploy', '.', '--project', 'a/b', '--sha', 'main']],
  ['an address that is none', ['deploy', '.', '--project', 'a/b', '--api-url', 'example.com']],
  ['a key that is none', ['deploy', '.', '--project', 'a/b', '--api-key', 'two words']],
])('%s: code 2 and the usage', async (_what, args) => {
  at.write('a.txt', 'one')
  const io = testIo({ env: { SVC_API_URL: at.server.url, SVC_API_KEY: at.key }, cwd: at.folder })
  expect(await runCommand({ deploy: () => deployCommand }, args, io, 'serve')).toBe(2)
  expect(io.err()).toContain('usage: svc deploy DIR')
  expect(at.server.requests).toEqual([])
})

test.each([
  ['SVC_API_URL', { SVC_API_KEY: at.key }],
  ['SVC_API_KEY', { SVC_API_URL: 'http://127.0.0.1:9' }],
])('without %s: code 2, naming it', async (name, env) => {
  at.write('a.txt', 'one')
  const { code, err } = await at.deploy([], { env })
  expect(code).toBe(2)
  expect(err()).toContain(name)
})
