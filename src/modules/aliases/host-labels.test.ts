import { afterAll, beforeAll, expect, test } from 'bun:test'
import { inTransaction } from '../../db/open.ts'
import { clashLabel, hostLabel } from '../../domain/hostname.ts'
import { seedDeployment } from '../../testing/seed.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'
import { claimLabel, isLabelFree } from './host-labels.ts'

let app: TestApp
let adminApp: TestApp
beforeAll(async () => {
  app = await testApp()
  adminApp = await testApp({ BASE_DOMAIN: 'example.com', ADMIN_HOST: 'next--docs--acme.example.com' })
})
afterAll(() => {
  app.close()
  adminApp.close()
})

const seed = (owner: string, repo: string, sha = 'a'.repeat(40), alias = 'production', of = app) =>
  seedDeployment(of, { owner, repo, sha, alias, files: { 'index.html': `${owner}/${repo}` } })

test('two names with the same spelling get two hosts, each with its own content', async () => {
  const first = await seed('acme', 'my.docs')
  const second = await seed('acme', 'my_docs')
  const third = await seed('acme', 'my-docs')
  const label = 'production--my-docs--acme'
  expect([first, second, third].map(({ aliasHost }) => aliasHost)).toEqual(
    [label, clashLabel(label), clashLabel(clashLabel(label))].map((one) => `${one}.localhost`),
  )
  const shown = await Promise.all(
    [first, second, third].map(async ({ aliasHost }) =>
      (await app.call('GET', '/', { host: aliasHost ?? '' })).text(),
    ),
  )
  expect(shown).toEqual(['acme/my.docs', 'acme/my_docs', 'acme/my-docs'])
})

test('two commits of one project with the same prefix get two hosts', async () => {
  const first = await seed('acme', 'commits', `${'b'.repeat(12)}1`)
  const second = await seed('acme', 'commits', `${'b'.repeat(12)}2`)
  expect(first.host).toBe('bbbbbbbbbbbb--commits--acme.localhost')
  expect(second.host).toBe(`${clashLabel('bbbbbbbbbbbb--commits--acme')}.localhost`)
})

test('a long label is cut to 63 characters and ends in its hash', async () => {
  const { aliasHost } = await seed('o'.repeat(40), 'r'.repeat(40))
  const whole = `production--${'r'.repeat(40)}--${'o'.repeat(40)}`
  expect(aliasHost).toBe(`${whole.slice(0, 54)}-${Bun.SHA256.hash(whole, 'hex').slice(0, 8)}.localhost`)
  expect(aliasHost?.split('.')[0]).toHaveLength(63)
})

test('existing labels are kept', async () => {
  const { aliasId } = await seed('acme', 'kept')
  const again = inTransaction(app.ctx.db, (tx) =>
    claimLabel(app.ctx, tx, { ref: 'x', repo: 'y', owner: 'z' }, { aliasId: aliasId ?? '' }),
  )
  expect(again).toBe('production--kept--acme')
})

test("the admin's label is never given away", async () => {
  const wanted = hostLabel({ ref: 'next', repo: 'docs', owner: 'acme' })
  expect(isLabelFree(adminApp.ctx, adminApp.ctx.db.orm, wanted)).toBe(false)
  const { aliasHost } = await seed('acme', 'docs', 'c'.repeat(40), 'next', adminApp)
  expect(aliasHost).toBe(`${clashLabel(wanted)}.example.com`)
})
