import { heapStats } from 'bun:jsc'
import { seedDeployment } from '../../../src/testing/seed.ts'
import { type TestApp, testApp } from '../../../src/testing/test-app.ts'
import { commitOf } from './content.ts'
import { fullHeaders, fullRedirects, LAST_LINE } from './routing-files.ts'

/** In bytes: of one site with files as long as they may be, and of many with a few lines each. */
export type RoutingMemory = { one: number; many: number; sites: number }

const SITES = 1000
const PAGES = { 'page.html': 'page' }
const TEN_LINES = Array.from({ length: 10 }, (_, n) => `/old/${n} /new/${n} 301`).join('\n')
const FULL = { _redirects: fullRedirects(), _headers: fullHeaders() }

const measured: RoutingMemory = {
  one: (await heapOf(1, FULL, LAST_LINE)) - (await heapOf(1, {}, LAST_LINE)),
  many: (await heapOf(SITES, { _redirects: TEN_LINES }, '/old/9')) - (await heapOf(SITES, {}, '/old/9')),
  sites: SITES,
}
console.log(JSON.stringify(measured))

/** What the heap grows by when so many sites are published and each was asked for a page and for `path`. */
async function heapOf(sites: number, routing: Record<string, string>, path: string): Promise<number> {
  const app = await testApp()
  await visit(app, 'warm', PAGES, path)
  const before = heapNow()
  for (let site = 0; site < sites; site++) await visit(app, `site-${site}`, { ...PAGES, ...routing }, path)
  const grown = heapNow() - before
  app.close()
  return grown
}

async function visit(app: TestApp, repo: string, files: Record<string, string>, path: string): Promise<void> {
  const { aliasHost } = await seedDeployment(app, {
    owner: 'acme',
    repo,
    sha: commitOf(0),
    files,
    alias: 'production',
  })
  for (const asked of ['/page.html', path]) {
    const answer = await app.call('GET', asked, { host: aliasHost ?? '' })
    await answer.arrayBuffer()
  }
}

function heapNow(): number {
  for (let turn = 0; turn < 3; turn++) Bun.gc(true)
  return heapStats().heapSize
}
