import { afterAll, beforeAll, expect, test } from 'bun:test'
import { ask } from '../testing/ask.ts'
import { rounds, seedOf } from '../testing/rounds.ts'
import { SEED_OWNER, seedDeployment } from '../testing/seed.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { type TestApp, testApp } from '../testing/test-app.ts'

/** Explaining and serving agree for every site with routing files, on the first request and on those after it. */

const random = seededRandom(seedOf('explained routing'))
const one = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T
const several = (most: number, make: () => string): string =>
  Array.from({ length: Math.floor(random() * (most + 1)) }, make).join('\n')

const PATHS = [
  '/',
  '/a',
  '/a/',
  '/a.html',
  '/b',
  '/b/c',
  '/x.js',
  '/none',
  '/folder',
  '/folder/',
  '/%61',
  '/api/health',
]
const SOURCES = [...PATHS, '/*', '/a/*', '/:one', '/b/:one', '/folder/*']
const TARGETS = [
  '/a',
  '/b',
  '/b/c',
  '/none',
  '/:splat',
  '/:one',
  '/folder',
  'https://o.example/:splat',
  '/index.html',
]
const ENDS = [
  '',
  '302',
  '200',
  '200!',
  '404',
  '404!',
  '410',
  '301 Language=de',
  '200 Cookie=c',
  '200! Role=viewer',
  '302 Cookie=c',
]
const NAMES = [
  'X-A: 1',
  'X-A: 2',
  '! X-A',
  'Cache-Control: public, max-age=7',
  '! Cache-Control',
  'Vary: X-B',
  'Link: <:splat>',
]
const HEADERS: Record<string, string>[] = [
  {},
  { 'accept-language': 'de' },
  { cookie: 'c=1' },
  { accept: '*/*' },
]

const line = (): string => {
  const target = one(TARGETS)
  const end = one(ENDS)
  return `${one(SOURCES)} ${/^(?:200|404|410)/.test(end) && target.startsWith('http') ? '/a' : target} ${end}`
}
const block = (): string => `${one(SOURCES)}\n  ${one(NAMES)}\n  ${one(NAMES)}`

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.close())

const SHOWN = ['location', 'cache-control', 'vary', 'x-a', 'link', 'content-type', 'x-svc-commit']
const files = { 'index.html': 'i', 'a.html': 'a', 'b/c.html': 'c', 'folder/index.html': 'f', '404.html': 'n' }
let count = 0

test('what is explained is what is answered', async () => {
  for (let round = 0; round < rounds(40, 1_000); round++) {
    count += 1
    const sent = { _redirects: several(6, line), _headers: several(4, block) }
    const { aliasHost } = await seedDeployment(app, {
      owner: 'acme',
      repo: `p${count % 5}`,
      sha: count.toString(16).padStart(40, '9'),
      alias: `r${count}`,
      files: { ...files, ...sent },
    })
    for (let request = 0; request < 8; request++)
      await compare(aliasHost ?? '', `${one(PATHS)}${one(['', '', '?q=1'])}`, one(HEADERS), sent)
  }
})

async function compare(
  host: string,
  path: string,
  extra: Record<string, string>,
  sent: object,
): Promise<void> {
  const headers = { accept: 'text/html', ...extra }
  const url = encodeURIComponent(`http://${host}${path}`)
  const more = Object.entries(headers).map((pair) => `&header=${encodeURIComponent(pair.join(': '))}`)
  const { body } = await ask(app, 'GET', `/api/explain?url=${url}${more.join('')}`, { as: SEED_OWNER })
  const {
    kind,
    status,
    headers: told,
  } = body['outcome'] as {
    kind: string
    status: number | null
    headers: Record<string, string>
  }
  if (kind !== 'answer') return
  for (let time = 0; time < 2; time++) {
    const answer = await app.call('GET', path, { host, headers })
    const shown = (of: (name: string) => string | null | undefined) =>
      SHOWN.map((name) => [name, of(name) ?? null])
    expect([sent, path, extra, answer.status, shown((name) => answer.headers.get(name))]).toEqual([
      sent,
      path,
      extra,
      status ?? 0,
      shown((name) => told[name]),
    ])
  }
}
