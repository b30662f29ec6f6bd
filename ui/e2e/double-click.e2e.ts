import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, signIn, test, WITH_ADMIN } from './journey.ts'

const BACKUP_DIR = mkdtempSync(join(tmpdir(), 'svc-e2e-backups-'))

test.use({ javaScriptEnabled: false, env: { ...WITH_ADMIN, BACKUP_DIR } })
test.afterAll(() => rmSync(BACKUP_DIR, { recursive: true }))

test('without scripts a double click makes one key, and shows it', async ({ page, appliance }) => {
  await page.goto(`${appliance.url}/keys`)
  await signIn(page)
  let answered = 0
  let release = (): void => {}
  const bothCame = new Promise<void>((resolve) => {
    release = resolve
  })
  // The server does what both clicks ask for before the browser sees an answer; it gave up the first at the second click.
  await page.route('**/keys', async (route) => {
    if (route.request().method() !== 'POST') return route.continue()
    const response = await route.fetch()
    answered += 1
    if (answered === 2) release()
    await bothCame
    await route.fulfill({ response }).catch(() => undefined)
  })
  await page.getByLabel('Name').fill('ci')
  const button = page.getByRole('button', { name: 'Create key' })
  await button.scrollIntoViewIfNeeded()
  const { x, y } = (await button.boundingBox()) ?? { x: 0, y: 0 }
  await page.mouse.click(x + 5, y + 5)
  await expect.poll(() => answered).toBe(1)
  await page.mouse.click(x + 5, y + 5)
  const key = page.getByRole('group', { name: 'API key' }).getByRole('code')
  await expect(key).toContainText('svc_')
  expect(answered).toBe(2)
  const keys = await (await appliance.asAdmin('GET', '/api/api-keys')).json()
  expect(keys.pagination.total).toBe(1)
  expect(await key.textContent()).toContain(keys.data[0].prefix)
})

test('and one project, one group and one backup', async ({ page, appliance }) => {
  await page.goto(`${appliance.url}/projects/new`)
  await signIn(page)
  await page.getByLabel('Owner').fill('acme')
  await page.getByLabel('Repository').fill('website')
  await page.getByRole('button', { name: 'Create project' }).dblclick()
  await expect(page.getByRole('heading', { name: 'website' })).toBeVisible()

  await page.goto(`${appliance.url}/admin/groups`)
  await page.getByLabel('Name').fill('Editors')
  await page.getByRole('button', { name: 'Create group' }).dblclick()
  await expect(page.getByRole('heading', { name: 'Editors' })).toBeVisible()

  await page.goto(`${appliance.url}/admin/backups`)
  await page.getByRole('button', { name: 'Back up now' }).dblclick()
  await expect(page.getByRole('status')).toContainText('The backup is written.')
  expect(readdirSync(BACKUP_DIR)).toHaveLength(1)
})
