import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { seedDeployment } from '../testing/seed.ts'
import { type TestApp, testApp } from '../testing/test-app.ts'

let app: TestApp
let host = ''
beforeAll(async () => {
  app = await testApp()
  const files = { 'index.html': 'app', 'real.png': 'png', 'users/index.html': 'users' }
  const seeded = await seedDeployment(app, {
    owner: 'acme',
    repo: 'app',
    sha: 'a'.repeat(40),
    alias: 'production',
    files,
  })
  host = seeded.aliasHost ?? ''
})
afterAll(() => app.close())

const status = async (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  (await app.call(method, path, { host, headers })).status

describe('addresses of an app, of programs that say nothing', () => {
  test.each([
    '/deep/link',
    '/users/ann@example.com',
    '/users/ann%40example.com',
    '/v1.2',
    '/v1.2/',
    '/john.doe',
    '/john.doe.',
    '/a.unknown',
    '/a.tsx',
    '/png',
    '/pictures.png/',
    '/pictures.png/1',
    '/a%2Eb',
    '/%zz',
    '/%00',
    '/日本',
  ])('%s', async (path) => {
    for (const method of ['GET', 'HEAD'])
      expect([method, await status(path, {}, method)]).toEqual([method, 200])
    expect(await status(path, {}, 'POST')).toBe(405)
  })

  const KNOWN =
    'avif bmp cjs css csv cur doc docx eot gif gz htm html ico jpeg jpg js json jsonld log m3u8 m4a m4v map md mjs mp3 mp4 mpd ogg ogv opus otf pdf png rss atom svg tar tgz ts ttc ttf txt vtt wasm wav webm webmanifest webp woff woff2 xls xlsx xml yaml yml zip'
  test.each(KNOWN.split(' '))('none ends in .%s, in any case or spelling', async (extension) => {
    const page = { accept: 'text/html' }
    for (const name of [
      `a.${extension}`,
      `A.${extension.toUpperCase()}`,
      `.${extension}`,
      `a%2E${extension}`,
      `a%2Fb.${extension}`,
    ])
      expect([name, await status(`/x/${name}`, page)]).toEqual([name, 404])
  })
})

describe('who accepts HTML', () => {
  const CHROME =
    'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7'
  const shown = ['document', 'iframe', 'frame', 'embed', 'object']
  const parts = [
    'script',
    'style',
    'image',
    'empty',
    'font',
    'worker',
    'serviceworker',
    'audio',
    'manifest',
    'json',
    '',
  ]
  /** Accept, or null without it; whether it names HTML, allows it without naming it, or does not hold it. */
  const rows: [accept: string | null, holds: 'named' | 'allowed' | 'not'][] = [
    [CHROME, 'named'],
    ['text/html', 'named'],
    ['TEXT/HTML;Q=0.1', 'named'],
    ['text/html;charset=utf-8', 'named'],
    ['text/html;level=1', 'named'],
    ['application/xhtml+xml', 'named'],
    ['application/xhtml+xml; profile="http://www.wapforum.org/xhtml"', 'named'],
    ['*/*, text/html;q=0.1', 'named'],
    ['application/json, text/html', 'named'],
    [null, 'allowed'],
    ['', 'allowed'],
    [' , ', 'allowed'],
    ['*/*', 'allowed'],
    ['text/*', 'allowed'],
    ['*', 'allowed'],
    ['application/json, */*;q=0.1', 'allowed'],
    ['application/xhtml+xml;q=0, */*', 'allowed'],
    ['text/html;level=1;q=0, */*', 'allowed'],
    ['*/*;q=0, text/*', 'allowed'],
    ['application/json', 'not'],
    ['text/plain', 'not'],
    ['application/*', 'not'],
    ['text/htmlx', 'not'],
    ['image/avif,image/webp,image/png', 'not'],
    ['text/html;q=0', 'not'],
    ['text/html;q=0.000, */*', 'not'],
    ['text/html;q=0, text/*', 'not'],
    ['text/html;q=0, text/html;level=1', 'not'],
    ['text/*;q=0, */*', 'not'],
    ['*/*;q=0', 'not'],
  ]
  test.each(rows)('Accept %j: %s', async (accept, holds) => {
    const sent = accept === null ? {} : { accept }
    expect(await status('/deep', sent)).toBe(holds === 'not' ? 404 : 200)
    for (const destination of [...shown, ...parts]) {
      const isPage = holds === 'named' || (holds === 'allowed' && shown.includes(destination))
      const got = await status('/deep', { ...sent, 'sec-fetch-dest': destination })
      expect([destination, got]).toEqual([destination, isPage ? 200 : 404])
    }
  })

  test('a missing script or picture is never HTML, whoever asks', async () => {
    for (const path of ['/missing.js', '/missing.mjs', '/missing.png'])
      for (const accept of ['text/html', '*/*', CHROME])
        for (const destination of ['document', 'script', 'image']) {
          const headers = { accept, 'sec-fetch-dest': destination }
          expect([path, await status(path, headers)]).toEqual([path, 404])
        }
    expect(await status('/chunk', { accept: '*/*', 'sec-fetch-dest': 'script' })).toBe(404)
  })

  test('a file and a folder answer whatever the request accepts', async () => {
    expect(await status('/real.png', { accept: 'application/json' })).toBe(200)
    expect(await status('/users/', { accept: 'application/json' })).toBe(200)
    expect(await status('/users', { accept: 'application/json' })).toBe(308)
  })
})
