import { afterEach, beforeEach, expect, test } from 'bun:test'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../testing/until.ts'
import { devCommand, greeting, startTwin, type Twin } from './dev.ts'
import { runCommand } from './run-command.ts'
import { testIo } from './testing/test-io.ts'

let folder: string
let twin: Twin

beforeEach(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-dev-')))
  cpSync(join(import.meta.dir, '../../examples/guestbook'), folder, { recursive: true })
  twin = await startTwin(folder, testIo({ cwd: folder }), { port: 0, hostname: '127.0.0.1' })
})
afterEach(async () => {
  await twin.close()
  rmSync(folder, { recursive: true })
})

const json = { 'content-type': 'application/json' }

test('serves the pages as a server does, and the rules with them', async () => {
  const page = await fetch(`${twin.url}/about`)
  expect(page.status).toBe(200)
  expect(page.headers.get('etag')).toMatch(/^"/)
  expect(page.headers.get('cache-control')).toBe('public, max-age=0, must-revalidate')
  const note = JSON.stringify({ name: 'Ruth', text: 'Oil & tea' })
  expect((await fetch(`${twin.url}/api/notes`, { method: 'POST', headers: json, body: note })).status).toBe(
    201,
  )
  expect(await (await fetch(`${twin.url}/api/notes`)).json()).toMatchObject([
    { name: 'Ruth', text: 'Oil & tea' },
  ])
  const sent = new URLSearchParams({ name: 'Ann', text: 'Hello', page: 'wall' })
  const back = await fetch(`${twin.url}/api/notes`, { method: 'POST', body: sent, redirect: 'manual' })
  expect([back.status, back.headers.get('location')]).toEqual([303, '../wall/index.html#thanks'])
})

test('a page that a browser goes to reloads when a file changes', async () => {
  const visited = await fetch(`${twin.url}/`, { headers: { 'sec-fetch-dest': 'document' } })
  expect(await visited.text()).toContain('<script src="/_dev/live.js"></script>')
  const live = await fetch(`${twin.url}/_dev/live`)
  const reader = live.body?.getReader()
  await reader?.read()
  writeFileSync(join(folder, 'index.html'), '<h1>changed</h1>')
  expect(new TextDecoder().decode((await reader?.read())?.value)).toContain('changed')
  expect(await (await fetch(`${twin.url}/index.html`)).text()).toBe('<h1>changed</h1>')
  await reader?.cancel()
})

test('a rule takes every spelling of its path, and the file behind it is not reached by another', async () => {
  mkdirSync(join(folder, '@me'))
  writeFileSync(join(folder, '@me/x.txt'), 'mine')
  const rules = join(
    folder,
    '.svc/proxy-rules',
    readdirSync(join(folder, '.svc/proxy-rules'))[0] ?? '',
    'rules',
  )
  mkdirSync(join(rules, 'guarded'))
  writeFileSync(
    join(rules, 'guarded/any.rule.yaml'),
    `pathPattern: /@me/*\npipeline:\n  validators: [{ type: auth_required }]\n  steps:\n    - { id: a, handler: response_handler, config: { body: '{}' } }\n`,
  )
  await until('the rule', async () => (await fetch(`${twin.url}/@me/x.txt`)).status === 401)
  for (const path of ['/@me/x.txt', '/%40me/x.txt', '/%40%6De/%78.txt'])
    expect([path, (await fetch(`${twin.url}${path}`)).status]).toEqual([path, 401])
})

test('signs in whom the page names', async () => {
  const body = new URLSearchParams({ email: 'ann@example.com', role: 'viewer' })
  const answer = await fetch(`${twin.url}/_dev/`, { method: 'POST', body, redirect: 'manual' })
  const cookie = answer.headers
    .getSetCookie()
    .map((one) => one.split(';')[0])
    .join('; ')
  const session = await fetch(`${twin.url}/api/auth/session`, { headers: { cookie } })
  expect(await session.json()).toMatchObject({ user: { email: 'ann@example.com' } })
  expect(await (await fetch(`${twin.url}/_dev/`)).text()).toContain('<p>Nobody</p>')
  expect(await (await fetch(`${twin.url}/_dev/`, { headers: { cookie } })).text()).toContain(
    '<p>ann@example.com</p>',
  )
  const forged = await fetch(`${twin.url}/_dev/`, {
    method: 'POST',
    body,
    headers: { origin: 'https://evil.test' },
  })
  expect(forged.status).toBe(403)
})

test.each(['with a config', 'without a config'])(
  'serves the rules of the repository that the folder lies in, and sees them change, %s',
  async (kind) => {
    if (kind === 'without a config') rmSync(join(folder, '.svc/config.json'))
    const pages = join(folder, 'built')
    mkdirSync(pages)
    writeFileSync(join(pages, 'index.html'), '<h1>built</h1>')
    const inner = await startTwin(pages, testIo({ cwd: folder }), { port: 0, hostname: '127.0.0.1' })
    try {
      expect(await (await fetch(`${inner.url}/`)).text()).toBe('<h1>built</h1>')
      expect(await (await fetch(`${inner.url}/api/notes`)).json()).toEqual([])
      const reader = (await fetch(`${inner.url}/_dev/live`)).body?.getReader()
      await reader?.read()
      writeFileSync(
        join(folder, '.svc/proxy-rules/guestbook/rules/api/get.rule.yaml'),
        `pipeline:\n  steps:\n    - { id: r, handler: response_handler, config: { body: '"new"' } }\n`,
      )
      await reader?.read()
      expect(await (await fetch(`${inner.url}/api`)).json()).toBe('new')
      await reader?.cancel()
    } finally {
      await inner.close()
    }
  },
)

test('secrets come from the environment, and mails are shown and not sent', async () => {
  writeFileSync(
    join(folder, '.svc/proxy-rules/guestbook/rules/api/post.rule.yaml'),
    `pipeline:
  steps:
    - id: mail
      handler: email_handler
      config: { to: secrets.OWNER, subject: 'Hello {{input.name}}', body: "Line 1\\nLine 2 \\e[2J" }
    - { id: none, handler: response_handler, config: { body: '{ "none": "{{secrets.NONE}}" }' } }
`,
  )
  const io = testIo({ cwd: folder, env: { SVC_SECRET_OWNER: 'owner@example.com' } })
  const inner = await startTwin(folder, io, { port: 0, hostname: '127.0.0.1' })
  try {
    const body = JSON.stringify({ name: 'Ann' })
    const answer = await fetch(`${inner.url}/api`, { method: 'POST', headers: json, body })
    expect(await answer.json()).toEqual({ none: '' })
    expect(io.err()).toContain('mail to owner@example.com: Hello Ann\n  Line 1\n  Line 2')
    expect(io.err()).not.toContain('\u001b')
    expect(io.err()).toMatch(/warning: the project has no secret NONE; .*\(1 rule: POST \/api\)/)
    expect(io.err()).not.toContain('no secret OWNER')
  } finally {
    await inner.close()
  }
})

test.each([
  [[]],
  [['']],
  [['a', 'b']],
  [['nowhere']],
  [['.', '--port', 'x']],
  [['.', '--port', '0', '--host', '']],
])('%j is wrong usage', async (args) => {
  expect(
    await runCommand({ dev: () => devCommand }, ['dev', ...args], testIo({ cwd: folder }), 'serve'),
  ).toBe(2)
})

test('a secret that cannot be one is named', async () => {
  const io = testIo({ cwd: folder, env: { SVC_SECRET_9: 'x' } })
  expect(await runCommand({ dev: () => devCommand }, ['dev', '.', '--port', '0'], io, 'serve')).toBe(1)
  expect(io.err()).toStartWith('svc dev: SVC_SECRET_9: The name of a secret has')
})

test.each([
  ['PROXY_ALLOWED_TARGETS', 'a/b/c', 'a comma-separated list'],
  ['NODE_EXTRA_CA_CERTS', '/nowhere.pem', 'a readable file of PEM certificates'],
])('a %s that is none ends it in one line, with 78', async (name, value, expected) => {
  const io = testIo({ cwd: folder, env: { [name]: value } })
  expect(await runCommand({ dev: () => devCommand }, ['dev', '.', '--port', '0'], io, 'serve')).toBe(78)
  expect(io.err()).toMatch(new RegExp(`^svc dev: ${name} is "${value}", but must be ${expected}.*\n$`))
})

test('prints schedules, fires none, and runs one by its name', async () => {
  const set = join(folder, '.svc/proxy-rules/guestbook')
  const io = testIo({ cwd: folder })
  mkdirSync(join(set, 'schedules'))
  mkdirSync(join(set, 'rules/api/tick'), { recursive: true })
  writeFileSync(
    join(set, 'rules/api/tick/post.rule.yaml'),
    "pipeline:\n  steps: [{ id: a, handler: response_handler, config: { status: 502, body: '{}' } }]\n",
  )
  writeFileSync(join(set, 'schedules/tick.schedule.yaml'), 'cron: "* * * * *"\nrule: POST /api/tick\n')
  const inner = await startTwin(folder, io, { port: 0, hostname: '127.0.0.1' })
  try {
    expect(io.out()).toContain('schedule tick: POST /api/tick at * * * * * (UTC), next ')
    const run = (name: string, init: RequestInit = { method: 'POST' }) =>
      fetch(`${inner.url}/_dev/schedules/${name}`, init)
    expect(await (await run('tick')).json()).toMatchObject({
      status: 'failed',
      error: 'The pipeline answered 502',
    })
    expect((await run('other')).status).toBe(404)
    expect((await run('tick', {})).status).toBe(405)
    expect((await run('tick', { method: 'POST', headers: { origin: 'https://evil.example' } })).status).toBe(
      403,
    )
  } finally {
    await inner.close()
  }
})

test('says which rules were found', () => {
  const io = testIo({ cwd: folder })
  expect(greeting(folder, io, 'http://x')).toContain('. is at http://x;')
  expect(greeting(folder, io, 'http://x')).toContain('\nrules: .svc/proxy-rules/guestbook\n')
  rmSync(join(folder, '.svc'), { recursive: true })
  expect(greeting(folder, io, 'http://x')).toContain('\nrules: none here; svc rules init makes some\n')
})

test('a port that is taken is told in one line, and nothing is left behind', async () => {
  const { TMPDIR = '' } = process.env
  const scratch = join(folder, 'scratch')
  mkdirSync(scratch)
  process.env['TMPDIR'] = scratch
  const io = testIo({ cwd: folder })
  const { port } = new URL(twin.url)
  try {
    expect(await runCommand({ dev: () => devCommand }, ['dev', '.', '--port', port], io, 'serve')).toBe(1)
    expect(io.err()).toContain(`cannot listen on 127.0.0.1:${port}`)
    expect(readdirSync(scratch)).toEqual([])
  } finally {
    if (TMPDIR === '') delete process.env['TMPDIR']
    else process.env['TMPDIR'] = TMPDIR
  }
})

test('a folder without pages, or with what no server would take, is told in one line', async () => {
  const bare = join(folder, 'bare')
  mkdirSync(join(bare, '.svc/proxy-rules'), { recursive: true })
  const dev = async () => {
    const io = testIo({ cwd: folder, env: { SVC_SECRET_TOO_LONG: 'x'.repeat(1_000_000) } })
    const code = await runCommand({ dev: () => devCommand }, ['dev', 'bare', '--port', '0'], io, 'serve')
    return `${code} ${io.err()}`
  }
  expect(await dev()).toBe(`1 svc dev: ${bare} holds nothing to serve; an index.html is enough\n`)
  writeFileSync(join(bare, 'index.html'), '<h1>one</h1>')
  expect(await dev()).toMatch(/^1 svc dev: .+\n$/)
})

test('routing files are in force, and what is wrong in them is printed at each change', async () => {
  const led = await fetch(`${twin.url}/hut/stove`, { redirect: 'manual' })
  expect([led.status, led.headers.get('location')]).toEqual([301, '/about'])
  expect((await fetch(`${twin.url}/about`)).headers.get('content-security-policy')).toContain("'self'")
  const site = join(folder, 'routed')
  mkdirSync(site)
  writeFileSync(join(site, 'index.html'), 'x')
  writeFileSync(join(site, '_redirects'), '/a /b\n/bad\n')
  const io = testIo({ cwd: site })
  const routed = await startTwin(site, io, { port: 0, hostname: '127.0.0.1' })
  expect(io.err()).toContain('_redirects:2 the line has no target')
  writeFileSync(join(site, '_headers'), '/*\n  X-A: b\n  ETag: "x"\n')
  await until('the headers', async () => (await fetch(routed.url)).headers.get('x-a') === 'b')
  expect(io.err()).toContain('_headers:3 ')
  await routed.close()
})

test('a folder that is deleted and made again is served again, and broken rules leave the last good ones', async () => {
  const live = await fetch(`${twin.url}/_dev/live`)
  const reader = live.body?.getReader()
  await reader?.read()
  rmSync(folder, { recursive: true })
  cpSync(join(import.meta.dir, '../../examples/guestbook'), folder, { recursive: true })
  const rule = join(folder, '.svc/proxy-rules/guestbook/rules/api/notes/get.rule.yaml')
  writeFileSync(rule, 'pipeline: {}\n')
  writeFileSync(join(folder, 'index.html'), '<h1>again</h1>')
  for (;;) {
    await reader?.read()
    if ((await (await fetch(`${twin.url}/index.html`)).text()) === '<h1>again</h1>') break
  }
  expect(await (await fetch(`${twin.url}/api/notes`)).json()).toEqual([])
  await reader?.cancel()
}, 60_000)

test.each<[host: string, isServed: boolean]>([
  ['evil.example:4400', false],
  ['127.0.0.1.evil.example', false],
  ['localhost.evil.example', false],
  ['localhost:4400', true],
  ['site.localhost:4400', true],
  ['[::1]:4400', true],
  ['192.168.1.20:4400', true],
  ['laptop', true],
  ['laptop.local:4400', true],
])('a name that somebody made lead here is not served: %s is %p', async (host, isServed) => {
  for (const path of ['/', '/_dev/', '/_dev/live.js', '/api/notes']) {
    const { status } = await fetch(`${twin.url}${path}`, { headers: { host } })
    expect([path, status]).toEqual([path, isServed ? 200 : 421])
  }
})

test('a picture goes up, is looked at, shown, seen and removed', async () => {
  const form = new FormData()
  for (const [name, value] of Object.entries({ name: 'Ines', text: 'Fog.' })) form.set(name, value)
  form.set('file', new File(['a picture'], 'fog.png', { type: 'image/png' }))
  const sent = await fetch(`${twin.url}/api/notes`, { method: 'POST', body: form })
  const { pictureId } = (await sent.json()) as { pictureId: string }

  const member = new URLSearchParams({ email: 'ann@example.com', role: 'contributor' })
  const signedIn = await fetch(`${twin.url}/_dev/`, { method: 'POST', body: member, redirect: 'manual' })
  const cookie = signedIn.headers
    .getSetCookie()
    .map((one) => one.split(';')[0])
    .join('; ')
  const headers = { cookie, 'sec-fetch-site': 'same-origin' }
  const act = (what: string) =>
    fetch(`${twin.url}/api/pictures/${what}`, {
      method: 'POST',
      body: new URLSearchParams({ id: pictureId }),
      headers,
      redirect: 'manual',
    })

  const look = `${twin.url}/api/pictures/look/${pictureId}`
  expect((await fetch(look)).status).toBe(401)
  const link = await fetch(look, { headers, redirect: 'manual' })
  const address = link.headers.get('location') ?? ''
  expect(address).toStartWith(`${twin.url}/_svc/files/`)
  expect(await (await fetch(address)).text()).toBe('a picture')

  expect((await act('show')).status).toBe(303)
  const [note] = (await (await fetch(`${twin.url}/api/notes`)).json()) as [{ picture: string }]
  const seen = await fetch(`${twin.url}${note.picture}`)
  expect([seen.status, seen.headers.get('content-type'), await seen.text()]).toEqual([
    200,
    'image/png',
    'a picture',
  ])

  const head = await fetch(`${twin.url}${note.picture}`, { method: 'HEAD' })
  expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '9', ''])

  expect((await act('remove')).status).toBe(303)
  expect((await fetch(`${twin.url}${note.picture}`)).status).toBe(404)
  expect((await fetch(address)).status).toBe(404)
})
