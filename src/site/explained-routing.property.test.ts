import { afterAll, beforeAll, expect, test } from 'bun:test'
import { HTML_HANDLINGS } from '../domain/html-handling.ts'
import { ask } from '../testing/ask.ts'
import { rounds, seedOf } from '../testing/rounds.ts'
import { SEED_OWNER, seedDeployment } from '../testing/seed.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { type TestApp, testApp } from '../testing/test-app.ts'

/** Explaining is done by the code that serves: with lines, headers, redirect rules and every spelling of addresses. */

const random = seededRandom(seedOf('explained routing'))
const one = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T
const several = (most: number, make: () => string): string =>
  Array.from({ length: Math.floor(random() * (most + 1)) }, make).join('\n')

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.close())

const FILES = [
  'index.html',
  'a.html',
  'a/index.html',
  'b.html',
  'c/index.html',
  'd',
  '404.html',
  '200.html',
  'e.js',
]
const SOURCES = ['/a', '/b', '/c/*', '/:x', '/x/*', '/e.js', '/*', '/d', '/']
const TARGETS = ['/a', '/b.html', '/c', '/:splat', '/:x/y', '/', 'https://o.example/:splat', '/none']
const STATUSES = ['301', '302', '308', '200', '200!', '404', '410!', '302 Language=de', '200 Cookie=k']
const PATHS = [
  '/',
  '/a',
  '/a/',
  '/a.html',
  '/b',
  '/b/',
  '/b.html',
  '/c',
  '/c/',
  '/c/index',
  '/c/index.html',
  '/d',
  '/d/',
]
const OTHERS = [
  '/index.html',
  '/x',
  '/x/a',
  '/x/%2e%2e/y',
  '/none',
  '/e.js',
  '/f.js',
  '/%61',
  '/200',
  '/404.html',
]

const line = () => `${one(SOURCES)} ${one(TARGETS)} ${one(STATUSES)}`
const block = () =>
  `${one(SOURCES)}\n  X-${one(['A', 'B'])}: ${one(['1', '2'])}\n  ${one(['! ETag', '! Cache-Control', 'Cache-Control: no-cache'])}`

let count = 0
async function site() {
  count += 1
  const files = FILES.filter(() => random() < 0.7).map((path) => [path, `the file ${path}`])
  const routing = [
    ['_redirects', several(5, line)],
    ['_headers', several(3, block)],
  ]
  const seeded = await seedDeployment(app, {
    owner: 'acme',
    repo: `site${count}`,
    sha: count.toString(16).padStart(40, 'f'),
    alias: one(['production', 'staging']),
    files: Object.fromEntries([...files, ...(random() < 0.8 ? routing : [])]),
  })
  const settings = {
    htmlHandling: one([null, ...HTML_HANDLINGS]),
    indexing: one(['production', 'all', 'none']),
  }
  await ask(app, 'PATCH', `/api/projects/${seeded.projectId}`, { as: SEED_OWNER, json: settings })
  if (random() < 0.3) {
    const rule = {
      proxyType: 'redirect',
      pathPattern: one(SOURCES),
      targetUrl: one(['/b', '/q/:splat', 'http://o.example/']),
    }
    await ask(app, 'POST', `/api/proxy-rules/project/${seeded.projectId}`, { as: SEED_OWNER, json: rule })
  }
  return one([seeded.aliasHost ?? '', seeded.host])
}

test('explain says what the answer is', async () => {
  for (let round = 0; round < rounds(25, 1_000); round++) {
    const host = await site()
    for (let request = 0; request < 12; request++) {
      const path = `${one([...PATHS, ...OTHERS])}${one(['', '', '?q=1'])}`
      const method = one(['GET', 'GET', 'HEAD', 'POST'])
      const sent = await app.call(method, path, { host, headers: { accept: 'text/html' } })
      const query = new URLSearchParams({ url: `http://${host}${path}`, method })
      const { body } = await ask(app, 'GET', `/api/explain?${query}`, { as: SEED_OWNER })
      const outcome = body['outcome'] as { kind: string }
      // Nothing is fetched for an explanation.
      if (outcome.kind === 'forward') expect(sent.status).toBe(502)
      else
        expect(outcome).toMatchObject({
          kind: 'answer',
          status: sent.status,
          headers: Object.fromEntries([...sent.headers].filter(([name]) => name !== 'date')),
        })
    }
  }
}, 60_000)
