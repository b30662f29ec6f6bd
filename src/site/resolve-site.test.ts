import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Seeded, seedDeployment } from '../testing/seed.ts'
import { type TestApp, testApp } from '../testing/test-app.ts'
import { resolveAliasPath, resolveHost, resolveShaPath } from './resolve-site.ts'

const SHA = 'abcdef0123456789'

let app: TestApp
let site: Seeded
beforeAll(async () => {
  app = await testApp()
  const files = { 'index.html': 'docs' }
  site = await seedDeployment(app, { owner: 'Acme', repo: 'Docs', sha: SHA, alias: 'production', files })
})
afterAll(() => app.close())

// A visitor can make up any number of spellings; an entry for each would fill the memory.
test('every spelling of a host is the same site', () => {
  const host = site.aliasHost ?? ''
  const place = resolveHost(app.ctx, host)
  expect(place?.kind).toBe('site')
  for (const spelling of [host.toUpperCase(), `${host}.`, `${host}:3000`, `${host}:00443`])
    expect(resolveHost(app.ctx, spelling) === place).toBe(true)
})

test('every spelling of a path form is the same site', () => {
  const byAlias = resolveAliasPath(app.ctx, 'Acme', 'Docs', 'production')
  const bySha = resolveShaPath(app.ctx, 'Acme', 'Docs', SHA)
  expect([byAlias?.commitSha, bySha?.commitSha]).toEqual([SHA, SHA])
  expect(resolveAliasPath(app.ctx, 'ACME', 'docs', 'Production') === byAlias).toBe(true)
  expect(resolveShaPath(app.ctx, 'aCME', 'dOCS', SHA.toUpperCase()) === bySha).toBe(true)
})
