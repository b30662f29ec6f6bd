import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseHeaders } from '../domain/routing/headers.ts'
import { parseRedirects } from '../domain/routing/redirects.ts'
import { importCommand } from './import.ts'
import { runCommand } from './run-command.ts'
import { testIo } from './testing/test-io.ts'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-import-'))
})
beforeEach(() => {
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true })
})
afterAll(() => rmSync(folder, { recursive: true }))

async function run(...args: string[]) {
  const io = testIo({ cwd: folder, env: {} })
  const code = await runCommand({ import: () => importCommand }, ['import', ...args], io, 'import')
  return { code, stdout: io.out(), stderr: io.err() }
}
const put = (name: string, content: string | Uint8Array) => writeFileSync(join(folder, name), content)
const textAt = (name: string) =>
  existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : null

type Answer = {
  redirects: number
  headers: number
  written: string[]
  settings: Record<string, unknown>
  notCarried: { at: string; what: string; why: string }[]
}

/** What a file becomes: lines, headers, settings, and the names of what is not carried. Everything written is taken. */
async function carried(name: string, content: string | object) {
  put(name, typeof content === 'string' ? content : JSON.stringify(content))
  const { code, stdout, stderr } = await run(name, '--json', '--force')
  expect([code, stderr]).toEqual([0, ''])
  const answer = JSON.parse(stdout) as Answer
  const [redirects, headers] = [textAt('_redirects') ?? '', textAt('_headers') ?? '']
  const [lines, blocks] = [parseRedirects(redirects), parseHeaders(headers)]
  expect([lines.refused, blocks.refused]).toEqual([0, 0])
  expect([answer.redirects, answer.headers]).toEqual([lines.lines.length, blocks.blocks.length])
  for (const { at, why } of answer.notCarried)
    expect([at, why]).toEqual([expect.stringMatching(/:\d+:\d+$/), expect.stringMatching(/./)])
  return {
    lines: redirects.split('\n').filter((line) => line !== ''),
    headers,
    settings: answer.settings,
    left: answer.notCarried.map(({ what }) => what),
    notCarried: answer.notCarried,
    written: answer.written,
  }
}

describe('netlify.toml', () => {
  const redirect = (more: string) => `[[redirects]]\nfrom = "/a"\nto = "/b"\n${more}`
  const rows: [toml: string, line: string][] = [
    [redirect(''), '/a /b 301'],
    [redirect('status = 302'), '/a /b 302'],
    [redirect('status = 200\nforce = true'), '/a /b 200!'],
    [redirect('force = false'), '/a /b 301'],
    [redirect('query = {id = ":id", tag = "new one"}'), '/a id=:id tag=new%20one /b 301'],
    [
      redirect('conditions = {Language = ["de", "fr"], Cookie = "beta"}'),
      '/a /b 301 Language=de,fr Cookie=beta',
    ],
    [redirect('[redirects.conditions]\nRole = ["viewer"]'), '/a /b 301 Role=viewer'],
    [
      '[[redirects]]\nfrom = "/news/*"\nto = "https://x.example/:splat"',
      '/news/* https://x.example/:splat 301',
    ],
    [
      '[[redirects]]\nfrom = "http://old.example/*"\nto = "/:splat"\nstatus = 308',
      'http://old.example/* /:splat 308',
    ],
    ['[[redirects]]\nfrom = "/my files/*"\nto = "/f/:splat"', '/my%20files/* /f/:splat 301'],
    ['[[redirects]]\nfrom = "/gone/*"\nstatus = 410', '/gone/* 410'],
    ['redirects = [{from = "/a", to = "/b"}]', '/a /b 301'],
    ['[[redirects]]\n"from" = \'/a\'\nto = "/\\u00fc"', '/a /ü 301'],
  ]
  test.each(rows)('%j', async (toml, line) => {
    expect(await carried('netlify.toml', toml)).toMatchObject({ lines: [line], left: [] })
  })

  const left: [toml: string, what: string][] = [
    [redirect('conditions = {Country = ["de"]}'), 'redirects[0]'],
    [redirect('conditions = {Role = ["king"]}'), 'redirects[0]'],
    [redirect('signed = "KEY"'), 'redirects[0].signed'],
    [redirect('headers = {X-From = "a"}'), 'redirects[0].headers'],
    [redirect('status = 418'), 'redirects[0]'],
    [redirect('status = "soon"'), 'redirects[0].status'],
    [redirect('force = "yes"'), 'redirects[0].force'],
    [redirect('query = {id = 7}'), 'redirects[0].query'],
    ['[[redirects]]\nto = "/b"', 'redirects[0].from'],
    ['[[redirects]]\nfrom = ""\nto = "/x/*"\nstatus = 200', 'redirects[0].from'],
    ['[[redirects]]\nfrom = "/a"\nto = ""', 'redirects[0].to'],
    ['[[redirects]]\nfrom = "/a*/b*"\nto = "/b"', 'redirects[0]'],
    ['[[redirects]]\nfrom = "/a"\nto = "//evil.example"', 'redirects[0]'],
    ['redirects = "none"', 'redirects'],
    ['[build]\npublish = "dist"', 'build.publish'],
    ['[context.production.environment]\nA = "b"', 'context.production'],
    ['[[plugins]]\npackage = "p"', 'plugins'],
    ['[[headers]]\nfor = "/*"', 'headers[0].values'],
    ['[[headers]]\n[headers.values]\nX-A = "b"', 'headers[0].for'],
    ['[[headers]]\nfor = "/*"\n[headers.values]\nBasic-Auth = "me:secret"', 'headers[0].values.Basic-Auth'],
    ['[[headers]]\nfor = "/*"\n[headers.values]\nSet-Cookie = "a=b"', 'headers[0].values.Set-Cookie'],
    ['[[headers]]\nfor = "/*"\n[headers.values]\n"#X" = "a"', 'headers[0].values.#X'],
    ['[[headers]]\nfor = "/*"\n[headers.values]\nX-A = ":splat"', 'headers[0].values.X-A'],
    ['[[headers]]\nfor = "/*"\n[headers.values]\nX-A = 5', 'headers[0].values.X-A'],
  ]
  test.each(left)('%j is listed', async (toml, what) => {
    const found = await carried('netlify.toml', toml)
    expect(found).toMatchObject({ lines: [], headers: '', left: [what], written: [] })
  })

  test('headers, of several lines and of lists', async () => {
    const toml = `[[headers]]
for = "/*"
  [headers.values]
  X-Frame-Options = "DENY"
  Cache-Control = '''
  max-age=0,
  no-cache'''
  Link = ["</a.css>", "</b.css>"]
[[headers]]
for = "/x/:name"
values = { X-Frame-Options = "SAMEORIGIN" }
`
    expect((await carried('netlify.toml', toml)).headers).toBe(
      '/*\n  X-Frame-Options: DENY\n  Cache-Control: max-age=0, no-cache\n  Link: </a.css>\n  Link: </b.css>\n\n' +
        '/x/:name\n  X-Frame-Options: SAMEORIGIN\n',
    )
  })

  test('what is listed has its place', async () => {
    const { notCarried } = await carried(
      'netlify.toml',
      '[build]\n  command = "x"\n\n[[redirects]]\nfrom = "/a"\nto = "b"\n',
    )
    expect(notCarried.map(({ at, what }) => [at, what])).toEqual([
      ['netlify.toml:2:3', 'build.command'],
      ['netlify.toml:4:1', 'redirects[0]'],
    ])
  })
})

describe('vercel.json', () => {
  const rows: [entry: object, line: string][] = [
    [{ source: '/a', destination: '/b' }, '/a /b 308'],
    [{ source: '/a', destination: '/b', permanent: true }, '/a /b 308'],
    [{ source: '/a', destination: '/b', permanent: false }, '/a /b 307'],
    [{ source: '/a', destination: '/b', statusCode: 301 }, '/a /b 301'],
    [{ source: '/blog/:slug', destination: '/news/:slug' }, '/blog/:slug /news/:slug 308'],
    [
      { source: '/docs/:path*', destination: 'https://d.example:8443/v2/:path*' },
      '/docs/* https://d.example:8443/v2/:splat 308',
    ],
    [{ source: '/(.*)', destination: '/x/$1' }, '/* /x/:splat 308'],
    [{ source: '/:lang/old-(.*)', destination: '/$1/$2' }, '/:lang/old-* /:lang/:splat 308'],
    [{ source: '/:a/:b', destination: '/:b/:a' }, '/:a/:b /:b/:a 308'],
    [{ source: '/a b', destination: '/c d' }, '/a%20b /c%20d 308'],
  ]
  test.each(rows)('%j', async (entry, line) => {
    expect(await carried('vercel.json', { redirects: [entry] })).toMatchObject({ lines: [line], left: [] })
  })

  const left: [entry: object, what: string][] = [
    [{ source: '/a', destination: '/b', has: [] }, 'redirects[0].has'],
    [{ source: '/a', destination: '/b', missing: [] }, 'redirects[0].missing'],
    [{ source: '/a', destination: '/b?c=d' }, 'redirects[0]'],
    [{ source: '/post/:id(\\d+)', destination: '/b' }, 'redirects[0]'],
    [{ source: '/:path*/b', destination: '/b' }, 'redirects[0]'],
    [{ source: '/:path+', destination: '/b' }, 'redirects[0]'],
    [{ source: '/:a?', destination: '/b' }, 'redirects[0]'],
    [{ source: '/((?!api).*)', destination: '/b' }, 'redirects[0]'],
    [{ source: '/a', destination: '/:b' }, 'redirects[0]'],
    [{ source: '/:a', destination: '/:a*' }, 'redirects[0]'],
    [{ source: '/:a*', destination: '/:a' }, 'redirects[0]'],
    [{ source: '/(.*)', destination: '/$2' }, 'redirects[0]'],
    [{ source: '/:h', destination: 'https://:h.example/' }, 'redirects[0]'],
    [{ source: '/a', destination: '/b', statusCode: 200.5 }, 'redirects[0]'],
    [{ source: '/a', destination: '/b', statusCode: 418 }, 'redirects[0]'],
    [{ source: '/a', destination: 7 }, 'redirects[0].destination'],
    [{ destination: '/b' }, 'redirects[0]'],
  ]
  test.each(left)('%j is listed', async (entry, what) => {
    expect(await carried('vercel.json', { redirects: [entry] })).toMatchObject({ lines: [], left: [what] })
  })

  test('rewrites are unforced, to files and to backends; http is listed', async () => {
    const rewrites = [
      { source: '/app/:path*', destination: '/index.html' },
      { source: '/api/:path*', destination: 'https://api.example/:path*' },
      { source: '/old/(.*)', destination: 'http://api.example/$1' },
    ]
    expect(await carried('vercel.json', { rewrites })).toMatchObject({
      lines: ['/app/* /index.html 200', '/api/* https://api.example/:splat 200'],
      left: ['rewrites[2]'],
    })
  })

  test('of headers the last one counts, as there', async () => {
    const header = (key: string, value: string) => ({ key, value })
    const headers = [
      { source: '/(.*)', headers: [header('X-A', '1'), header('X-B', '1')] },
      { source: '/x/:path*', headers: [header('x-a', '2'), header('X-C', '3'), header('X-C', '4')] },
      { source: '/y', headers: [header('X-D', 'a\nX-E: b'), header('/z', 'v'), { key: 'X-F' }] },
      { source: '/z', has: [], headers: [header('X-A', '1')] },
    ]
    expect(await carried('vercel.json', { headers })).toMatchObject({
      headers: '/*\n  X-A: 1\n  X-B: 1\n\n/x/*\n  ! x-a\n  x-a: 2\n  X-C: 4\n',
      left: ['headers[2].headers[0]', 'headers[2].headers[1]', 'headers[2].headers[2]', 'headers[3].has'],
    })
  })

  test('a Vary that would replace an earlier one, and a password, are listed with the reason', async () => {
    const of = (source: string, key: string, value: string) => ({ source, headers: [{ key, value }] })
    const headers = [of('/a', 'Vary', 'X-A'), of('/b', 'vary', 'X-B'), of('/c', 'Basic-Auth', 'a b')]
    put('vercel.json', JSON.stringify({ headers }))
    const { stdout } = await run('vercel.json', '--json')
    expect(textAt('_headers')).toBe('/a\n  Vary: X-A\n')
    expect((JSON.parse(stdout) as Answer).notCarried).toMatchObject([
      { what: 'headers[1].headers[0]', why: expect.stringContaining('Vary is only added to') },
      {
        what: 'headers[2].headers[0]',
        why: expect.stringContaining('make the project or the alias private'),
      },
    ])
  })

  test.each([
    [{ cleanUrls: true }, { htmlHandling: 'drop-trailing-slash' }, []],
    [{ cleanUrls: true, trailingSlash: false }, { htmlHandling: 'drop-trailing-slash' }, []],
    [{ cleanUrls: true, trailingSlash: true }, { htmlHandling: 'force-trailing-slash' }, []],
    [{ cleanUrls: false }, {}, ['cleanUrls']],
    [{ trailingSlash: true }, {}, ['trailingSlash']],
    [{ functions: {}, crons: [], $schema: 'x' }, {}, ['functions', 'crons', '$schema']],
  ])('%j', async (content, settings, left) => {
    expect(await carried('vercel.json', content)).toMatchObject({ settings, left, written: [] })
  })
})

describe('firebase.json', () => {
  test('redirects, rewrites, headers', async () => {
    const hosting = {
      public: 'dist',
      redirects: [
        { source: '/a', destination: '/b', type: 301 },
        { source: '/old/**', destination: '/new', type: 302 },
        { source: '/blog/:post*', destination: 'https://b.example/:post*', type: 308 },
        { source: '/log/:post*', destination: 'https://b.example/:post', type: 301 },
        { source: '/a/*', destination: '/b', type: 301 },
        { regex: '/x/(.*)', destination: '/b', type: 301 },
        { source: '/@(a|b)', destination: '/b', type: 301 },
        { source: '/a', destination: '/b', type: 200.5 },
      ],
      rewrites: [
        { source: '**', destination: '/index.html' },
        { source: '/f', function: 'f' },
        { source: '/r', run: { serviceId: 'r' } },
      ],
      headers: [
        { source: '/img/**', headers: [{ key: 'Cache-Control', value: 'max-age=7200' }] },
        { source: '**/*.@(jpg|png)', headers: [{ key: 'Cache-Control', value: 'max-age=7200' }] },
      ],
      cleanUrls: true,
      trailingSlash: true,
    }
    expect(await carried('firebase.json', { hosting, functions: {} })).toMatchObject({
      lines: [
        '/a /b 301',
        '/old/* /new 302',
        '/blog/* https://b.example/:splat 308',
        '/log/* https://b.example/:splat 301',
        '/* /index.html 200',
      ],
      headers: '/img/*\n  Cache-Control: max-age=7200\n',
      settings: { htmlHandling: 'force-trailing-slash' },
      left: expect.arrayContaining([
        'hosting.redirects[4]',
        'hosting.redirects[5].regex',
        'hosting.redirects[6]',
        'hosting.redirects[7]',
        'hosting.rewrites[1].function',
        'hosting.rewrites[2].run',
        'hosting.headers[1]',
        'hosting.public',
        'functions',
      ]),
    })
  })

  test('of several targets the first; comments do no harm', async () => {
    const text = `// sites
{ "hosting": [
  { "target": "a", "redirects": [{ "source": "/a", "destination": "/b", "type": 301 }] }, /* and */
  { "target": "b", "redirects": [] } ] }`
    expect(await carried('firebase.json', text)).toMatchObject({
      lines: ['/a /b 301'],
      left: ['hosting[0].target', 'hosting[1]'],
    })
  })
})

describe('Cloudflare', () => {
  test.each([
    [
      'wrangler.toml',
      'name = "w"\n[assets]\ndirectory = "dist"\nhtml_handling = "none"\nnot_found_handling = "404-page"\n',
    ],
    [
      'wrangler.json',
      '{"name":"w","assets":{"directory":"dist","html_handling":"none","not_found_handling":"404-page"}}',
    ],
    [
      'wrangler.jsonc',
      '{"name":"w", // x\n"assets":{"directory":"dist","html_handling":"none","not_found_handling":"404-page",},}',
    ],
  ])('%s', async (name, text) => {
    expect(await carried(name, text)).toMatchObject({
      settings: { htmlHandling: 'none', isSpa: false },
      left: ['name', 'assets.directory'],
      written: [],
    })
  })

  test('single-page-application, and values that are none', async () => {
    const spa = await carried('wrangler.json', { assets: { not_found_handling: 'single-page-application' } })
    expect(spa.settings).toEqual({ isSpa: true })
    const wrong = await carried('wrangler.json', { assets: { html_handling: 'x', not_found_handling: 1 } })
    expect(wrong).toMatchObject({ settings: {}, left: ['assets.html_handling', 'assets.not_found_handling'] })
  })

  test('_routes.json is listed', async () => {
    const left = ['version', 'include', 'exclude']
    expect(await carried('_routes.json', { version: 1, include: ['/*'], exclude: [] })).toMatchObject({
      left,
    })
  })
})

describe('the command', () => {
  const GOOD = '{"redirects":[{"source":"/a","destination":"/b"}]}'

  test('writes beside the file or to --out, and over files only with --force', async () => {
    put('vercel.json', GOOD)
    expect(await run('vercel.json')).toMatchObject({ code: 0, stderr: '' })
    expect([textAt('_redirects'), textAt('_headers')]).toEqual(['/a /b 308\n', null])
    put('_redirects', 'mine')
    const refused = await run('vercel.json')
    expect([refused.code, refused.stderr, textAt('_redirects')]).toEqual([
      1,
      expect.stringContaining('--force'),
      'mine',
    ])
    expect((await run('vercel.json', '--force')).code).toBe(0)
    expect(textAt('_redirects')).toBe('/a /b 308\n')
    expect((await run('vercel.json', '--out', 'public/deep')).code).toBe(0)
    expect(textAt('public/deep/_redirects')).toBe('/a /b 308\n')
    expect(readdirSync(folder).sort()).toEqual(['_redirects', 'public', 'vercel.json'])
  })

  test('--dry-run and --strict write nothing', async () => {
    put('vercel.json', GOOD)
    const dry = await run('vercel.json', '--dry-run')
    expect([dry.code, dry.stdout, textAt('_redirects')]).toEqual([
      0,
      expect.stringContaining('/a /b 308'),
      null,
    ])
    expect((await run('vercel.json', '--strict')).code).toBe(0)
    put('vercel.json', GOOD.replace('}', ',"has":[]}'))
    const strict = await run('vercel.json', '--strict', '--force')
    expect([strict.code, strict.stdout]).toEqual([1, expect.stringContaining('vercel.json:1:')])
    expect((await run('vercel.json', '--force')).code).toBe(0)
  })

  test.each([[[]], [['a', 'b']], [['package.json']], [['netlify.toml.bak']], [['vercel.json', '--what']]])(
    '%j is a matter of usage',
    async (args) => {
      expect((await run(...args)).code).toBe(2)
    },
  )

  const deep = '['.repeat(100_000)
  const large = `{"a":"${'x'.repeat(1024 * 1024)}"}`
  const broken: [name: string, content: string | Uint8Array, place: string][] = [
    ['netlify.toml', '', ':1:1 '],
    ['netlify.toml', ' \n\n', ':1:1 '],
    ['netlify.toml', '[[redirects]]\nfrom = \n', ':3:1 '],
    ['netlify.toml', 'a = 1\na = 2', ':2:1 '],
    ['netlify.toml', `a = ${deep}`, ':1:'],
    ['netlify.toml', `a = "${'x'.repeat(1024 * 1024)}"`, ':1:1 '],
    ['netlify.toml', new Uint8Array([0xff, 0xfe]), ':1:1 '],
    ['netlify.toml', new Uint8Array([0]), ':1:1 '],
    ['vercel.json', '', ':1:1 '],
    ['vercel.json', '{\n  "a": 1,\n}', ':3:1 '],
    ['vercel.json', '{ // no\n}', ':1:3 '],
    ['vercel.json', '{"a":1,"a":2}', ':1:8 '],
    ['vercel.json', '[]', ':1:1 '],
    ['vercel.json', 'null', ':1:1 '],
    ['vercel.json', '{} {}', ':1:4 '],
    ['vercel.json', deep, ':1:101 '],
    ['vercel.json', large, ':1:1 '],
    ['firebase.json', '{"hosting"', ':1:'],
    ['wrangler.jsonc', '/* open', ':1:1 '],
    ['_routes.json', '\u0000', ':1:1 '],
  ]
  test.each(broken)(
    '%s that is broken: an error with a place, nothing written',
    async (name, content, place) => {
      put(name, content)
      const { code, stdout, stderr } = await run(name, '--json', '--force')
      expect([code, stdout]).toEqual([1, ''])
      expect(stderr).toContain(`${name}${place}`)
      expect(readdirSync(folder)).toEqual([name])
    },
  )

  test('a file that is not there', async () => {
    expect(await run('vercel.json')).toMatchObject({ code: 1, stdout: '' })
  })

  test('more than the limits is listed', async () => {
    const redirects = Array.from({ length: 2101 }, (_, i) => ({
      source: `/a${i}${i < 101 ? '/:x' : ''}`,
      destination: '/b',
    }))
    const found = await carried('vercel.json', { redirects })
    expect([found.lines.length, found.left]).toEqual([2100, ['redirects[100]']])
  })

  test('more headers than the limits is listed', async () => {
    const headers = Array.from({ length: 101 }, (_, i) => ({
      source: `/a${i}`,
      headers: [{ key: 'X-A', value: 'b' }],
    }))
    expect((await carried('vercel.json', { headers })).left).toEqual(['headers[100].headers[0]'])
    const wide = [{ source: '/a', headers: [1, 2].map((i) => ({ key: `X-${i}`, value: 'v'.repeat(1900) })) }]
    expect((await carried('vercel.json', { headers: Array(10).fill(wide[0]) })).left).toHaveLength(3)
  })
})
