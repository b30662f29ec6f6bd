import { expect, openAsAdmin, test, WITH_ADMIN } from './journey.ts'
import { createWebsite, pageOf } from './publish-website.ts'

test.use({ env: WITH_ADMIN })

for (const javaScriptEnabled of [true, false])
  test.describe(javaScriptEnabled ? 'with scripts' : 'without scripts', () => {
    test.use({ javaScriptEnabled })

    test('a release is rolled back, locked and deleted', async ({ page, appliance }) => {
      const { id, upload } = await createWebsite(appliance)
      const deploy = (text: string, commitSha: string) =>
        upload({ 'index.html': pageOf(text) }, { alias: 'production', commitSha })
      await deploy('Old', 'aaaaaaaaaaaaaaaa')
      await deploy('New', 'bbbbbbbbbbbbbbbb')

      await openAsAdmin(page, appliance, `/projects/${id}/aliases`)
      await page.getByRole('link', { name: 'production', exact: true }).click()
      await page.getByRole('link', { name: 'Roll back to #1' }).first().click()
      await expect(page.getByRole('heading', { name: 'Roll production back?' })).toBeVisible()
      await expect(page.getByRole('heading', { name: '1 changed' })).toBeVisible()
      await page.getByRole('button', { name: 'Roll back production to #1' }).click()
      await expect(page.getByRole('status')).toContainText('The alias was moved.')
      const alias = page.url()
      await expect(page.getByRole('link', { name: /^Roll back to/ })).toHaveCount(0)
      await expect(page.getByRole('link', { name: 'Move to #2' })).toHaveCount(1)
      await expect(page.getByText('Now', { exact: true })).toHaveCount(1)
      await page.getByRole('link', { name: 'Visit' }).click()
      await expect(page.getByRole('heading', { name: 'Old' })).toBeVisible()
      await page.goto(alias)

      await page.getByLabel('Locked').check()
      await page.getByRole('button', { name: 'Save' }).click()
      await expect(page.getByRole('status')).toContainText('Saved.')
      await expect(page.getByLabel('Locked')).toBeChecked()

      await page.getByRole('button', { name: 'Delete this alias' }).click()
      const question = page.getByRole('dialog', { name: 'Delete production?' })
      await question.getByRole('button', { name: 'Delete the alias' }).click()
      await expect(page.getByRole('status')).toContainText('The alias was deleted.')

      await page.getByRole('link', { name: 'Deployments' }).click()
      await page.getByRole('link', { name: '#1', exact: true }).click()
      await page.getByLabel('New alias').fill('staging')
      await page.getByRole('button', { name: 'Create alias' }).click()
      await expect(page.getByRole('link', { name: /staging--website--acme/ })).toBeVisible()
    })
  })
