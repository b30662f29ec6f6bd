import { expect, openAsAdmin, test, WITH_ADMIN } from './journey.ts'
import { createWebsite, pageOf } from './publish-website.ts'

test.use({ env: WITH_ADMIN })

const SHA = 'abcdef0123456789'

for (const javaScriptEnabled of [true, false])
  test.describe(javaScriptEnabled ? 'with scripts' : 'without scripts', () => {
    test.use({ javaScriptEnabled })

    test('a commit is published twice, and its alias goes between the two versions', async ({
      page,
      appliance,
    }) => {
      const { id, upload } = await createWebsite(appliance)
      await upload({ 'index.html': pageOf('First') }, { alias: 'production', commitSha: SHA })
      await upload({ 'index.html': pageOf('Second') }, { commitSha: SHA })

      await openAsAdmin(page, appliance, `/projects/${id}/deployments`)
      await expect(page.getByText('The commit has a newer version')).toHaveCount(1)
      await page.getByRole('link', { name: '#1', exact: true }).click()
      await expect(page.getByRole('heading', { name: '2 versions of this commit' })).toBeVisible()
      await page.getByRole('link', { name: 'Open #1' }).click()
      await expect(page.getByRole('heading', { name: 'First' })).toBeVisible()

      await page.goto(`${appliance.url}/projects/${id}/deployments`)
      await page.getByRole('link', { name: '#2', exact: true }).click()
      await page.getByRole('link', { name: 'Move production here' }).click()
      await page.getByRole('button', { name: 'Move production to #2' }).click()
      await expect(page.getByRole('status')).toContainText('The alias was moved.')
      await page.getByRole('link', { name: 'Roll back to #1' }).first().click()
      await page.getByRole('button', { name: 'Roll back production to #1' }).click()
      await expect(page.getByRole('status')).toContainText('The alias was moved.')
      await page.getByRole('link', { name: 'Visit' }).click()
      await expect(page.getByRole('heading', { name: 'First' })).toBeVisible()
    })
  })
