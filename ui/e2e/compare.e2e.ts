import { expect, openAsAdmin, test, WITH_ADMIN } from './journey.ts'
import { createWebsite } from './publish-website.ts'

test.use({ env: WITH_ADMIN })

const DOT = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>'
const pageOf = (headline: string) =>
  `<!doctype html>\n<title>Acme</title>\n<h1>${headline}</h1>\n<p>Bread.</p>\n`

for (const javaScriptEnabled of [true, false])
  test.describe(javaScriptEnabled ? 'with scripts' : 'without scripts', () => {
    test.use({ javaScriptEnabled })

    test('the line that is wrong since Friday is seen', async ({ page, appliance }) => {
      const { id, upload } = await createWebsite(appliance)
      for (const [at, headline] of ['We bake', 'We brake'].entries()) {
        const dot = at === 0 ? DOT : DOT.replace('<rect', '<rect fill="red"')
        const site = { 'index.html': pageOf(headline), 'dot.svg': dot }
        await upload(site, { alias: 'production', commitSha: `abcdef${at}` })
      }

      await openAsAdmin(page, appliance, `/projects/${id}/deployments`)
      await page.getByRole('link', { name: 'Compare #2' }).click()
      await expect(page.getByRole('heading', { level: 1, name: 'Compare #1 with #2' })).toBeVisible()
      await page.getByRole('combobox', { name: 'From' }).selectOption('production')
      await page.getByRole('combobox', { name: 'To' }).selectOption('1')
      await page.getByRole('button', { name: 'Compare', exact: true }).click()
      await expect(page.getByRole('heading', { level: 1, name: 'Compare #2 with #1' })).toBeVisible()

      const files = page.getByRole('table', { name: 'Files that differ' })
      await files.getByRole('link', { name: 'index.html' }).click()
      await expect(page.getByRole('heading', { level: 1, name: 'index.html' })).toBeVisible()
      const changes = page.getByRole('table', { name: 'Changes' })
      await expect(changes.getByRole('row', { name: 'removed: <h1>We brake</h1>' })).toBeVisible()
      await expect(changes.getByRole('row', { name: 'added: <h1>We bake</h1>' })).toBeVisible()
      const views = page.getByRole('group', { name: 'View' })
      await expect(views.getByRole('link', { name: 'Unified' })).toHaveAttribute('aria-current', 'true')
      await views.getByRole('link', { name: 'Side by side' }).click()
      await expect(changes.getByRole('row', { name: /We brake.*We bake/ })).toBeVisible()

      await page.getByRole('link', { name: 'Compare #2 with #1' }).click()
      await files.getByRole('link', { name: 'dot.svg' }).click()
      await expect(views.getByRole('link', { name: 'Side by side' })).toHaveAttribute('aria-current', 'true')
      for (const side of ['Before', 'After'])
        await expect(page.getByRole('figure', { name: side }).getByRole('img')).toHaveJSProperty(
          'naturalWidth',
          9,
        )
    })
  })
