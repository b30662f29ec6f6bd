import { expect, test } from 'bun:test'
import { testApp } from '../../src/testing/test-app.ts'
import { ADMIN, browserOf } from '../testing/browser.ts'
import { ownerFor } from './new-project.ts'

const USER = 'grace@example.com'

const owners: [email: string, owner: string][] = [
  ['ada@example.com', 'ada'],
  ['ada.l_x-1@example.com', 'ada.l_x-1'],
  ['ada+svc@example.com', 'ada-svc'],
  ['"a b"@example.com', 'a-b'],
  ['„ö“@example.com', ''],
  ['..@example.com', ''],
  [`${'a'.repeat(101)}@example.com`, ''],
  ['0192f0c1-2d3e-7a4b-8c5d-6e7f8a9b0c1d@example.com', ''],
]
test.each(owners)('a new project of %p gets the owner %p', (email, owner) =>
  expect(ownerFor(email)).toBe(owner),
)

test('a new project has an owner filled in, and the form says what the names are for', async () => {
  const app = await testApp()
  const browser = browserOf(app)
  await app.addUser(ADMIN, 'admin')
  await app.addUser(USER, 'user')
  const html = await (await browser.open('/projects/new', { as: USER })).text()
  expect(html).toMatch(/<input id="owner"[^>]* value="grace"/)
  expect(html).toContain('production--NAME--OWNER')
  const emptied = { intent: 'create-project', owner: '', repo: 'x' }
  const refused = await (await browser.submit('/projects/new', emptied, { as: USER })).text()
  expect(refused).toContain('id="owner-error"')
  expect(refused).not.toContain('value="grace"')
  app.close()
})
