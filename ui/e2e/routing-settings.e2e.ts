import { violationsOf } from './axe.ts'
import { expect, openAsAdmin, test, WITH_ADMIN } from './journey.ts'
import { pageOf, publishWebsite } from './publish-website.ts'

test.use({ env: WITH_ADMIN })
test.setTimeout(120_000)

const FILES = { 'index.html': pageOf('Home'), 'prices.html': pageOf('Prices'), '404.html': pageOf('None') }
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0'
const SITE = 'production--website--acme.localhost'

for (const javaScriptEnabled of [true, false])
  test.describe(javaScriptEnabled ? 'with scripts' : 'without scripts', () => {
    // The name that a browser without a window has counts as a program's.
    test.use({ javaScriptEnabled, userAgent: FIREFOX })

    test('pages get one address, a redirect rule is tried and saved, a missing page is redirected', async ({
      page,
      appliance,
    }) => {
      const id = await publishWebsite(appliance, FILES)
      const { port } = new URL(appliance.url)
      const site = `http://${SITE}:${port}`
      await openAsAdmin(page, appliance, `/projects/${id}/settings`)
      await page
        .getByLabel('Addresses of pages')
        .selectOption({ label: 'Always with a slash: /about/, /docs/' })
      await page.getByRole('button', { name: 'Save the addresses' }).click()
      await expect(page.getByRole('status').first()).toContainText('Saved.')
      await expect(page.getByLabel('Addresses of pages')).toHaveValue('force-trailing-slash')
      await page.goto(`${site}/prices.html`)
      await expect(page).toHaveURL(`${site}/prices/`)
      await expect(page.getByRole('heading', { name: 'Prices' })).toBeVisible()

      await page.goto(`${appliance.url}/projects/${id}/rules/new`)
      await page.getByLabel('Kind').selectOption({ label: 'Redirect: send the visitor to another address' })
      await page.getByLabel('Path', { exact: true }).fill('/old/*')
      await page.getByLabel('Target').fill('/prices/?from=:splat')
      await page.getByLabel('Status').selectOption('302')
      await page.getByLabel('Address on the site').fill('/old/list')
      await page.getByRole('button', { name: 'Try it' }).click()
      await expect(page.getByText('/old/list leads to /prices/?from=list (302)')).toBeVisible()
      if (javaScriptEnabled) {
        const violations = await violationsOf(page)
        expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([])
      }
      await page.getByRole('button', { name: 'Create rule' }).click()
      await expect(page.getByRole('status').first()).toContainText('The rule was created and is live.')
      await page.goto(`${site}/old/list`)
      await expect(page).toHaveURL(`${site}/prices/?from=list`)

      const missing = await page.goto(`${site}/price.htm`)
      expect(missing?.status()).toBe(404)
      await page.goto(`${appliance.url}/projects/${id}/analytics`)
      await expect(page.getByLabel('Target for /price.htm')).toHaveValue('/prices/')
      if (javaScriptEnabled) {
        const violations = await violationsOf(page)
        expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([])
      }
      await page.getByRole('button', { name: 'Redirect /price.htm' }).click()
      await expect(page.getByRole('status').first()).toContainText('The redirect is live.')
      await expect(page.getByLabel('Target for /price.htm')).toHaveCount(0)
      await page.goto(`${site}/price.htm`)
      await expect(page).toHaveURL(`${site}/prices/`)
    })
  })
