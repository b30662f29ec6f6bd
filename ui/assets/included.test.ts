import { afterAll, beforeAll, expect, test } from 'bun:test'
import { explainerOf } from '../../src/server/endpoints.ts'
import { seedDeployment } from '../../src/testing/seed.ts'
import { type TestApp, testApp } from '../../src/testing/test-app.ts'
import { pageRoutes } from '../pages-app.ts'
import { ADMIN, type Browser, browserOf } from '../testing/browser.ts'
import { assets } from './manifest.ts'

/** What pages include is small: contract 17.12. */

const MAX_SCRIPT_BYTES = 60 * 1024
const MAX_STYLE_BYTES = 40 * 1024

let app: TestApp
let browser: Browser
let ids: Record<string, string>
beforeAll(async () => {
  app = await testApp()
  browser = browserOf(app)
  const userId = await app.addUser(ADMIN, 'admin')
  const files = { 'index.html': '<h1>Hello</h1>' }
  const seed = { owner: 'acme', repo: 'website', sha: 'c0ffee1', alias: 'production', files }
  const { projectId, deploymentId, aliasId } = await seedDeployment(app, seed)
  ids = { id: projectId, deploymentId, aliasId: aliasId ?? '', userId }
})
afterAll(() => app.close())

/** The pages that need nothing but a project, a deployment, an alias and a person. */
function pagePaths(): string[] {
  const explain = explainerOf(app.ctx, () => false)
  const paths = pageRoutes(app.ctx, explain)
    .routes.filter(({ method }) => method === 'GET')
    .map(({ path }) => path.replace('/users/:id', '/users/:userId').replace(/^$/, '/'))
  const known = paths.filter(
    (path) => !path.includes('/groups/') && namesIn(path).every((name) => name in ids),
  )
  return known.map((path) => path.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? ''))
}

const namesIn = (path: string): string[] => [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)

const bytesOf = (text: string): number => new TextEncoder().encode(text).length

/** The assets of a page that match; an address that is no asset of ours fails. */
function included(html: string, address: RegExp): string[] {
  return [...html.matchAll(address)].map(([, path = '']) => {
    const asset = assets.get(path)
    if (asset === undefined) throw new Error(`${path} is no asset`)
    return asset.body
  })
}

test('no page has more than 60 KB of scripts, packed, and 40 KB of styles', async () => {
  let pages = 0
  for (const path of [...pagePaths(), '/docs/start', '/docs/cli']) {
    const as = /^\/(?:setup|signin|signup|forgot-password)/.test(path) ? undefined : ADMIN
    const answer = await browser.open(path, { as })
    const html = await answer.text()
    if (answer.status !== 200 || !html.includes('<main')) continue
    pages += 1
    const scripts = included(html, /<script[^>]*\ssrc="([^"]*)"/g)
    const styles = included(html, /<link rel="stylesheet" href="([^"]*)"/g)
    const sizes = {
      path,
      hasScripts: scripts.reduce((sum, body) => sum + Bun.gzipSync(body).length, 0) <= MAX_SCRIPT_BYTES,
      hasStyles: styles.reduce((sum, body) => sum + bytesOf(body), 0) <= MAX_STYLE_BYTES,
      inline: [...html.matchAll(/<script(?![^>]*\ssrc=)|<style/g)].length,
    }
    expect(sizes).toEqual({ path, hasScripts: true, hasStyles: true, inline: 0 })
    expect(styles).toHaveLength(1)
  }
  expect(pages).toBeGreaterThan(40)
}, 60_000)
