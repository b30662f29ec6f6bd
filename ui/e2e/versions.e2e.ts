import { expect, signIn, test, WITH_ADMIN } from './journey.ts'

test.use({ env: WITH_ADMIN })

const SHA = 'abcdef0123456789'
const pageOf = (text: string) =>
  `<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>Hi</title><h1>${text}</h1>`

for (const javaScriptEnabled of [true, false])
  test.describe(javaScriptEnabled ? 'with scripts' : 'without scripts', () => {
    test.use({ javaScriptEnabled })

    test('a commit is published twice, and its alias goes between the two versions', async ({
      page,
      appliance,
      folder,
    }) => {
      const project = { owner: 'acme', name: 'website', isPublic: true }
      const { id } = await (await appliance.asAdmin('POST', '/api/projects', project)).json()
      const made = await appliance.asAdmin('POST', '/api/api-keys', { name: 'ci', projectId: id })
      const { key } = await made.json()
      const deploy = (text: string, ...more: string[]) =>
        appliance.svc(
          [
            ...['deploy', folder({ 'index.html': pageOf(text) }), '--api-url', appliance.url],
            ...['--project', 'acme/website', '--sha', SHA, ...more],
          ],
          { SVC_API_KEY: key },
        )
      await deploy('First', '--alias', 'production')
      await deploy('Second')

      await page.goto(`${appliance.url}/projects/${id}/deployments`)
      await signIn(page)
      await expect(page.getByText('The commit has a newer version')).toHaveCount(1)
      await page.getByRole('link', { name: '#1' }).click()
      await expect(page.getByRole('heading', { name: '2 versions of this commit' })).toBeVisible()
      await page.getByRole('link', { name: 'Preview' }).click()
      await expect(page.getByRole('heading', { name: 'First' })).toBeVisible()

      await page.goto(`${appliance.url}/projects/${id}/deployments`)
      await page.getByRole('link', { name: '#2' }).click()
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
