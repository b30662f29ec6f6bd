import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { parseHeaders } from '../domain/routing/headers.ts'
import { parseRedirects } from '../domain/routing/redirects.ts'
import { type ProxyFixture, proxyFixture } from '../testing/proxy-fixture.ts'

/** The setups in docs/sites.md for sites that need more than a generator's files. */

let fixture: ProxyFixture
beforeAll(async () => {
  fixture = await proxyFixture(
    {},
    {},
    {
      'index.html': 'home',
      'app/index.html': 'the app',
      'app/assets/main.3f2a9c1d.js': 'script',
      _redirects: '/old /new 301',
    },
  )
})
afterAll(() => fixture.close())

const page = { headers: { accept: 'text/html' } }

test('an app below a path, with two rewrites', async () => {
  await fixture.rule({
    pathPattern: '/app/assets/*',
    targetUrl: '/app/assets/',
    proxyType: 'internal_rewrite',
  })
  await fixture.rule({ pathPattern: '/app/*', targetUrl: '/app/index.html', proxyType: 'internal_rewrite' })
  for (const path of ['/app/', '/app/deep/link', '/app/users/jane.doe'])
    expect(await fixture.send(path, page)).toMatchObject({ status: 200, text: 'the app' })
  expect(await fixture.send('/app/assets/main.3f2a9c1d.js')).toMatchObject({ status: 200, text: 'script' })
  expect((await fixture.send('/app/assets/gone.3f2a9c1d.js')).status).toBe(404)
  expect((await fixture.send('/app', page)).status).toBe(308)
})

test('a path that ends like a file is not a page of an app, unless a rewrite says so', async () => {
  expect(await fixture.send('/users/jane.doe', page)).toMatchObject({ status: 200, text: 'home' })
  expect((await fixture.send('/files/report.pdf', page)).status).toBe(404)
  await fixture.rule({ pathPattern: '/files/*', targetUrl: '/index.html', proxyType: 'internal_rewrite' })
  expect(await fixture.send('/files/report.pdf', page)).toMatchObject({ status: 200, text: 'home' })
})

test('_redirects and _headers are in force and at no address', async () => {
  expect(await fixture.send('/old', page)).toMatchObject({ status: 301, headers: { location: '/new' } })
  expect((await fixture.send('/_redirects')).text).not.toContain('/old')
})

test('the examples of the manual are understood, line by line', async () => {
  const manual = await Bun.file(join(import.meta.dir, '../../docs/sites.md')).text()
  const [, redirects = '', headers = ''] = manual.split(/^### `_(?:redirects|headers)`$/m)
  const exampleOf = (text: string) => text.split('```')[1] ?? ''
  const lines = parseRedirects(exampleOf(redirects).replace(/^.*source \[.*$/m, ''))
  expect([lines.lines.length, lines.problems]).toEqual([10, []])
  const { blocks, problems } = parseHeaders(exampleOf(headers))
  expect([blocks.length, problems]).toEqual([2, []])
})
