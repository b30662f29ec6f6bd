import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { seedDeployment } from '../../src/testing/seed.ts'
import { type TestApp, testApp } from '../../src/testing/test-app.ts'

let app: TestApp
let host: string

beforeAll(async () => {
  app = await testApp({ PUBLIC_URL: 'https://admin.sites.example.com', BASE_DOMAIN: 'sites.example.com' })
  const seeded = await seedDeployment(app, {
    owner: 'acme',
    repo: 'docs',
    sha: 'a'.repeat(40),
    alias: 'production',
    isPublic: false,
    files: { 'index.html': 'x', '_svc/auth.js': 'of the site' },
  })
  host = seeded.aliasHost ?? ''
})
afterAll(() => app.close())

describe('/_svc/auth.js', () => {
  const get = (headers: Record<string, string> = {}, at = host) =>
    app.call('GET', '/_svc/auth.js', { host: at, headers })

  test('serves the dialog on every host, whatever the site contains', async () => {
    for (const at of [host, 'admin.sites.example.com', 'localhost']) {
      const answer = await get({}, at)
      expect(answer.status).toBe(200)
      expect(answer.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
      expect(await answer.text()).toContain("customElements.define('svc-auth'")
    }
  })

  test('is one small script that links to the hub and loads nothing from another host', async () => {
    const text = await (await get()).text()
    expect(text.length).toBeLessThan(15_000)
    expect(text.match(/https?:\/\/[^\s'"`]+/g)).toEqual(['https://admin.sites.example.com'])
    expect(text).not.toMatch(/innerHTML|insertAdjacentHTML|eval\(|document\.write|\bimport\b/)
    expect(new Bun.Transpiler({ loader: 'js' }).scan(text).imports).toEqual([])
  })

  test('is not sent again to a browser that has it', async () => {
    const etag = (await get()).headers.get('etag') ?? ''
    const again = await get({ 'if-none-match': etag })
    expect([again.status, await again.text()]).toEqual([304, ''])
  })
})
