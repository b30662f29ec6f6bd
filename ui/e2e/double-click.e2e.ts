import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { clickTwice } from './click-twice.ts'
import { expect, signIn, test, WITH_ADMIN } from './journey.ts'

const BACKUP_DIR = mkdtempSync(join(tmpdir(), 'svc-e2e-backups-'))

test.use({ javaScriptEnabled: false, env: { ...WITH_ADMIN, BACKUP_DIR } })
test.afterAll(() => rmSync(BACKUP_DIR, { recursive: true, force: true }))

test('without scripts a double click creates one key, and shows it', async ({ page, appliance }) => {
  await page.goto(`${appliance.url}/keys`)
  await signIn(page)
  await page.getByLabel('Name').fill('ci')
  await clickTwice(page, page.getByRole('button', { name: 'Create key' }))
  const key = page.getByRole('group', { name: 'API key' }).getByRole('code')
  await expect(key).toContainText('svc_')
  const keys = await (await appliance.asAdmin('GET', '/api/api-keys')).json()
  expect(keys.pagination.total).toBe(1)
  await expect(key).toContainText(keys.data[0].prefix)
})

test('and one project, one group and one backup', async ({ page, appliance }) => {
  await page.goto(`${appliance.url}/projects/new`)
  await signIn(page)
  await page.getByLabel('Owner').fill('acme')
  await page.getByLabel('Name', { exact: true }).fill('website')
  await clickTwice(page, page.getByRole('button', { name: 'Create project' }))
  await expect(page.getByRole('heading', { name: 'website' })).toBeVisible()

  await page.goto(`${appliance.url}/admin/groups`)
  await page.getByLabel('Name').fill('Editors')
  await clickTwice(page, page.getByRole('button', { name: 'Create group' }))
  await expect(page.getByRole('heading', { name: 'Editors' })).toBeVisible()

  await page.goto(`${appliance.url}/admin/backups`)
  await clickTwice(page, page.getByRole('button', { name: 'Back up now' }))
  await expect(page.getByRole('status')).toContainText('The backup was written.')
  expect(readdirSync(BACKUP_DIR)).toHaveLength(1)
})
