import { expect, signIn, test, WITH_ADMIN } from './journey.ts'

test.use({ env: WITH_ADMIN })

const pageOf = (text: string) =>
  `<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>Hi</title><h1>${text}</h1>`

for (const javaScriptEnabled of [true, false])
  test.describe(javaScriptEnabled ? 'with scripts' : 'without scripts', () => {
    test.use({ javaScriptEnabled })

    test('a release is rolled back, locked and deleted', async ({ page, appliance, folder }) => {
      const { id } = await (
        await appliance.asAdmin('POST', '/api/projects', { owner: 'acme', name: 'website', isPublic: true })
      ).json()
      const { key } = await (
        await appliance.asAdmin('POST', '/api/api-keys', { name: 'ci', projectId: id })
      ).json()
      const deploy = (text: string, sha: string) =>
        appliance.svc(
          [
            ...['deploy', folder({ 'index.html': pageOf(text) }), '--api-url', appliance.url],
            ...['--project', 'acme/website', '--alias', 'production', '--sha', sha],
          ],
          { SVC_API_KEY: key },
        )
      await deploy('Old', 'aaaaaaaaaaaaaaaa')
      await deploy('New', 'bbbbbbbbbbbbbbbb')

      await page.goto(`${appliance.url}/projects/${id}/aliases`)
      await signIn(page)
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
