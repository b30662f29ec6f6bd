import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { encodePath } from '../domain/asset-path.ts'
import { DAY_MS } from '../domain/durations.ts'
import { type ProxyFixture, proxyFixture } from '../testing/proxy-fixture.ts'
import { SEED_OWNER, seedDeployment } from '../testing/seed.ts'

/** Over real sockets: no spelling of a path reaches a file without the rules that its other spellings pass. */

const FOLDERS = [
  ...[
    '(draft)',
    '@me',
    'a:b',
    'c++',
    "o'hara",
    'a,b',
    'a;b',
    'k=v',
    'a&b',
    'wow!',
    '$cash',
    '100%',
    '%41',
    'a%2Fb',
  ],
  ...[
    '[id]',
    '{slug}',
    'a|b',
    'a^b',
    '~ann',
    'a*b',
    'my files',
    'caf\u00e9',
    'a#b',
    'a?b',
    '`x`',
    '"q"',
    '<b>',
  ],
  ...['日本', '😀', 'plain'],
]

let fixture: ProxyFixture
beforeAll(async () => {
  const pages = Object.fromEntries(FOLDERS.map((folder) => [`${folder}/secret.html`, `secret of ${folder}`]))
  const files = {
    'index.html': 'home',
    '404.html': 'none',
    'A/x.txt': 'A',
    'b c/index.html': 'folder',
    ...pages,
  }
  fixture = await proxyFixture({}, {}, files)
})
afterAll(() => fixture.close())
beforeEach(() => {
  fixture.app.ctx.db.sqlite.run('DELETE FROM proxy_rules')
  fixture.app.ctx.db.writes += 1
})

/** Sends a target byte for byte, also one that no client library would send. */
const raw = (target: string, host = fixture.site.aliasHost): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    const socket = connect(fixture.port, '127.0.0.1', () =>
      socket.write(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`),
    )
    const pieces: Uint8Array[] = []
    socket.on('data', (piece) => pieces.push(Buffer.from(piece)))
    socket.on('error', reject)
    socket.on('close', () => {
      const text = Buffer.concat(pieces).toString()
      resolve({ status: Number(text.split(' ')[1]), text: text.slice(text.indexOf('\r\n\r\n') + 4) })
    })
  })

const signInRule = (pathPattern: string) =>
  fixture.rule({
    pathPattern,
    proxyType: 'pipeline',
    pipelineConfig: {
      steps: [{ id: 'answer', handlerType: 'response_handler', config: { body: '{"in":true}' } }],
      validators: [{ type: 'auth_required' }],
    },
  })

const triplet = (character: string, isUpper = true): string => {
  const text = [...Buffer.from(character)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
  return isUpper ? text.toUpperCase() : text
}
/** What a URL may hold as it is. */
const RAW = /[A-Za-z0-9._~!$&'()*+,;=:@/|[\]-]/
const spelled = (text: string, how: (character: string, place: number) => string): string =>
  [...text].map(how).join('')

/** The spellings of a path in which a `/` between names is written as one. */
function spellingsOf(path: string): string[] {
  const raw = (one: string) => (RAW.test(one) ? one : triplet(one))
  const all = (one: string, isUpper: boolean) => (one === '/' ? one : triplet(one, isUpper))
  return [
    `/${encodePath(path.slice(1))}`,
    spelled(path, raw),
    spelled(path, (one) => all(one, true)),
    spelled(path, (one) => all(one, false)),
    spelled(path, (one, i) => (i % 2 === 0 ? raw(one) : all(one, i % 3 === 0))),
    spelled(path.normalize('NFD'), (one) => all(one, true)),
    // Targets that a browser would not send; the runtime reads them as it reads addresses.
    ...(path.includes('%') || /[#? *]/.test(path) ? [] : [spelled(path, (one) => one)]),
  ]
}

/** A pattern may be written as people write names, or as addresses are written. A star must be `%2A`. */
const patternsOf = (folder: string): string[] => [
  `/${folder.replace(/[%*#?]/g, (one) => triplet(one))}/*`,
  `/${encodeURIComponent(folder).replaceAll('*', '%2a')}/*`,
  `/${spelled(folder, (one) => triplet(one))}/secret*`,
  `*${spelled(folder, (one) => triplet(one, false))}/secret.html`,
]

describe.each(FOLDERS)('a sign-in rule for the folder %s', (folder) => {
  const paths = spellingsOf(`/${folder}/secret.html`)
  const clean = spellingsOf(`/${folder}/secret`)

  test('without the rule every spelling shows the file', async () => {
    for (const path of [...paths, ...clean])
      expect([path, await raw(path)]).toEqual([path, { status: 200, text: `secret of ${folder}` }])
  })

  test('protects each spelling, however the pattern is written', async () => {
    for (const pattern of patternsOf(folder)) {
      fixture.app.ctx.db.sqlite.run('DELETE FROM proxy_rules')
      await signInRule(pattern)
      for (const path of pattern.endsWith('.html') ? paths : [...paths, ...clean])
        expect([pattern, path, (await raw(path)).status]).toEqual([pattern, path, 401])
      expect((await raw('/')).text).toBe('home')
    }
  })

  test('protects it by every other address: path form, HEAD, a known address', async () => {
    for (const path of paths) await raw(path)
    await signInRule(`/${encodeURIComponent(folder).replaceAll('*', '%2A')}/*`)
    for (const path of paths) {
      expect([path, (await raw(path)).status]).toEqual([path, 401])
      const form = `/public/acme/docs/production${path}`
      expect([form, (await raw(form, 'admin.sites.test')).status]).toEqual([form, 401])
    }
  })
})

test('a file whose name holds %41 is reached by %2541 and by nothing else', async () => {
  for (const [path, text] of [
    ['/%2541/secret.html', 'secret of %41'],
    ['/%25%34%31/secret.html', 'secret of %41'],
    ['/%41/secret.html', 'none'],
    ['/A/secret.html', 'none'],
    ['/%252541/secret.html', 'none'],
    ['/%41/x.txt', 'A'],
    ['/%2541/x.txt', 'none'],
  ] as const)
    expect([path, (await raw(path)).text]).toEqual([path, text])
})

test('an encoded slash is none; a name that holds %2F is reached by both of its spellings, past the same rules', async () => {
  expect((await raw('/A%2Fx.txt')).text).toBe('none')
  for (const path of ['/a%2Fb/secret.html', '/a%2fb/secret.html', '/a%252Fb/secret.html'])
    expect([path, (await raw(path)).text]).toEqual([path, 'secret of a%2Fb'])
  await signInRule('/a/*')
  expect((await raw('/a%2Fb/secret.html')).text).toBe('secret of a%2Fb')
  await signInRule('/a%2fb/*')
  for (const path of ['/a%2Fb/secret.html', '/a%2fb/secret.html', '/a%252Fb/secret.html'])
    expect([path, (await raw(path)).status]).toEqual([path, 401])
})

test('a clean address is a path of its own', async () => {
  await signInRule('/plain/secret.html')
  expect([(await raw('/plain/secret.html')).status, (await raw('/plain/secret')).status]).toEqual([401, 200])
})

test('a redirect to a folder leads there, whatever its name', async () => {
  const names = ['b c', ...FOLDERS]
  const { aliasHost } = await seedDeployment(fixture.app, {
    owner: 'acme',
    repo: 'folders',
    sha: '2'.repeat(40),
    alias: 'production',
    files: Object.fromEntries(names.map((name) => [`${name}/index.html`, name])),
  })
  for (const name of names) {
    const got = await fixture.send(`/${encodePath(name)}?a=%20`, { host: aliasHost ?? '' })
    expect([name, got.status, got.headers['location']]).toEqual([name, 308, `/${encodePath(name)}/?a=%20`])
    expect((await raw(`/${encodePath(name)}/`, aliasHost ?? '')).text).toBe(name)
  }
})

test('a rewrite takes the plain rest, and its target is read as an address is', async () => {
  await fixture.rule({ pathPattern: '/old @/*', targetUrl: '/%40me/', proxyType: 'internal_rewrite' })
  for (const path of ['/old%20@/secret.html', '/old%20%40/%73ecret.html'])
    expect((await raw(path)).text).toBe('secret of @me')
  await fixture.rule({ pathPattern: '/x', targetUrl: '/%2541/secret.html', proxyType: 'internal_rewrite' })
  expect((await raw('/%78')).text).toBe('secret of %41')
})

test('the service keeps its own paths in every spelling, and its pages stay on the admin host', async () => {
  const { aliasHost } = await seedDeployment(fixture.app, {
    owner: 'acme',
    repo: 'ours',
    sha: '3'.repeat(40),
    alias: 'production',
    files: {
      '_svc/x.html': 'hidden',
      'api/projects': 'hidden',
      'api/auth/session': 'hidden',
      '404.html': 'none',
    },
  })
  for (const path of ['/_svc/x.html', '/api/projects', '/api/auth/session'])
    for (const spelling of spellingsOf(path)) {
      const { status, text } = await raw(spelling, aliasHost ?? '')
      expect([spelling, text.includes('hidden'), [200, 401, 404].includes(status)]).toEqual([
        spelling,
        false,
        true,
      ])
      if (spelling !== path)
        expect([spelling, text.includes('svc-admin'), status]).toEqual([spelling, false, 404])
    }
})

test('the nearest 404.html and the files of an earlier deployment are found by the plain path', async () => {
  const seed = (sha: string, files: Record<string, string>) =>
    seedDeployment(fixture.app, { owner: 'acme', repo: 'earlier', sha, alias: 'production', files })
  await seed('4'.repeat(40), { 'index.html': '1', 'my files/app-1a2b3c4d.js': 'old part' })
  const { aliasHost } = await seed('5'.repeat(40), {
    'index.html': '2',
    'my files/404.html': 'none of my files',
  })
  fixture.app.advance(DAY_MS)
  const host = aliasHost ?? ''
  expect((await raw('/my%20files/app-1a2b3c4d.js', host)).text).toBe('old part')
  expect((await raw('/%6Dy%20files/%61pp-1a2b3c4d.js', host)).text).toBe('old part')
  expect((await raw('/%6Dy%20files/missing.txt', host)).text).toBe('none of my files')
})

const HOSTILE = [
  ...[
    '/%',
    '/%2',
    '/%zz',
    '/%00',
    '/%ff',
    '/%C0%AF',
    '/%2F',
    '/%5C',
    '//',
    '/./',
    '/../',
    '/a/../../b',
    '/%2e%2e/',
  ],
  ...['/\\', '/`', '/{', '/"', '/|', '/^', '/<>', '/#', '/a#b?c', '/?', '/%3F', '/%23', '/\\..\\', '/%0d%0a'],
  `/${'%25'.repeat(2731)}`,
  `/${'%CC%81'.repeat(1365)}`,
]

test.each(HOSTILE)('the target %j does no harm, with and without rules', async (target) => {
  expect([200, 400, 404]).toContain((await raw(target)).status)
  await signInRule('*')
  expect([400, 401]).toContain((await raw(target)).status)
  const byPathForm = await raw(`/public/acme/docs/production${target}`, 'admin.sites.test')
  // The runtime resolves `..` first, which leads out of the site.
  expect([400, 401, 404]).toContain(byPathForm.status)
})

test.each(HOSTILE)('the pattern %j is refused or is one', async (pathPattern) => {
  const level = `/api/proxy-rules/project/${fixture.site.projectId}`
  const json = { pathPattern, targetUrl: '/A/x.txt', proxyType: 'internal_rewrite' }
  const made = await fixture.app.call('POST', level, { as: SEED_OWNER, json })
  expect([201, 400]).toContain(made.status)
  if (made.status === 201)
    expect(((await made.json()) as { pathPattern: string }).pathPattern).toBe(pathPattern)
  expect([200, 400, 404]).toContain((await raw(pathPattern)).status)
  expect((await raw('/A/x.txt')).text).toBe('A')
})
