import { expect, signIn, test, WITH_ADMIN } from './journey.ts'

/** What was changed by mistake is taken back: on the page after the form, and in the log of the project. contract 17.9. */

test.use({ env: WITH_ADMIN })

for (const javaScriptEnabled of [true, false])
  test.describe(javaScriptEnabled ? 'with scripts' : 'without scripts', () => {
    test.use({ javaScriptEnabled })

    test('a change is undone, and done again in the log of the project', async ({ page, appliance }) => {
      if (javaScriptEnabled) await page.clock.install()
      const site = { owner: 'acme', name: 'website', displayName: 'Website' }
      const { id } = await (await appliance.asAdmin('POST', '/api/projects', site)).json()
      await page.goto(`${appliance.url}/projects/${id}/settings`)
      await signIn(page)
      const name = page.getByLabel('Display name')
      const rename = async (to: string) => {
        await name.fill(to)
        await page.getByRole('button', { name: 'Save' }).first().click()
        await expect(name).toHaveValue(to)
      }
      const said = page.getByRole('status').filter({ hasText: 'changed the settings of acme/website' })
      const undo = said.getByRole('button', { name: 'Undo', exact: true })
      if (javaScriptEnabled) {
        await rename('Wabsite')
        await expect(undo).toBeVisible()
        await expect(undo).not.toBeFocused()
        await undo.focus()
        await page.clock.runFor(20_000)
        await expect(undo).toBeVisible()
        await name.focus()
        await page.clock.runFor(20_000)
        await expect(said).toHaveCount(0)
      }
      await rename('Wobsite')
      await undo.click()
      await expect(name).toHaveValue(javaScriptEnabled ? 'Wabsite' : 'Website')

      await page.getByRole('link', { name: 'Audit log' }).last().click()
      await expect(page.getByRole('heading', { level: 1, name: 'Audit log' })).toBeVisible()
      await page.getByRole('combobox', { name: 'What' }).selectOption('settings')
      await page.getByRole('button', { name: 'Filter' }).click()
      await page
        .getByRole('button', { name: /^Undo: .* undid/ })
        .first()
        .click()
      await expect(page.getByRole('status').filter({ hasText: 'did again' })).toBeVisible()
      await expect(page).toHaveURL(/\/audit\?group=settings/)
      await page.goto(`${appliance.url}/projects/${id}/settings`)
      await expect(name).toHaveValue('Wobsite')
    })
  })
