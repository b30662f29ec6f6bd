import AxeBuilder from '@axe-core/playwright'
import { type Appliance, expect, signIn, test, WITH_ADMIN } from './journey.ts'

test.use({ env: WITH_ADMIN })
test.setTimeout(120_000)

const pageOf = (text: string) =>
  `<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>Hi</title><h1>${text}</h1>`

/** Creates a project with a site of two pages and returns its id. */
async function publish(
  appliance: Appliance,
  folder: (files: Record<string, string>) => string,
): Promise<string> {
  const make = async (path: string, json: unknown) => (await appliance.asAdmin('POST', path, json)).json()
  const { id } = await make('/api/projects', { owner: 'acme', name: 'website', isPublic: true })
  const { key } = await make('/api/api-keys', { name: 'ci', projectId: id })
  const site = folder({
    'index.html': pageOf('Home'),
    'prices.html': pageOf('Prices'),
    '404.html': pageOf('None'),
  })
  const where = ['--api-url', appliance.url, '--project', 'acme/website', '--alias', 'production']
  await appliance.svc(['deploy', site, ...where, '--sha', 'aaaaaaaaaaaaaaaa'], { SVC_API_KEY: key })
  return id
}

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0'
const SITE = 'production--website--acme.localhost'

for (const javaScriptEnabled of [true, false])
  test.describe(javaScriptEnabled ? 'with scripts' : 'without scripts', () => {
    // The name that a browser without a window has counts as a program's.
    test.use({ javaScriptEnabled, userAgent: FIREFOX })

    test('pages get one address, a redirect rule is tried and saved, a missing page is redirected', async ({
      page,
      appliance,
      folder,
    }) => {
      const id = await publish(appliance, folder)
      const { port } = new URL(appliance.url)
      const site = `http://${SITE}:${port}`
      await page.goto(`${appliance.url}/projects/${id}/settings`)
      await signIn(page)
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
        const { violations } = await new AxeBuilder({ page }).analyze()
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
        const { violations } = await new AxeBuilder({ page }).analyze()
        expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([])
      }
      await page.getByRole('button', { name: 'Redirect /price.htm' }).click()
      await expect(page.getByRole('status').first()).toContainText('The redirect is live.')
      await expect(page.getByLabel('Target for /price.htm')).toHaveCount(0)
      await page.goto(`${site}/price.htm`)
      await expect(page).toHaveURL(`${site}/prices/`)
    })
  })
