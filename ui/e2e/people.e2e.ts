import { expect, signIn, test, WITH_ADMIN } from './journey.ts'

test.use({ env: WITH_ADMIN })

for (const javaScriptEnabled of [true, false])
  test.describe(javaScriptEnabled ? 'with scripts' : 'without scripts', () => {
    test.use({ javaScriptEnabled })

    test('somebody is invited, gets another role, and finally owns the project', async ({
      page,
      appliance,
    }) => {
      const { id } = await (
        await appliance.asAdmin('POST', '/api/projects', { owner: 'acme', name: 'website' })
      ).json()
      await appliance.asAdmin('POST', '/api/users', {
        email: 'grace@example.com',
        password: 'correct horse battery',
        role: 'user',
      })
      await page.goto(`${appliance.url}/projects/${id}/people`)
      await signIn(page)

      await page.getByRole('link', { name: 'Invite somebody' }).click()
      await page.getByLabel('Email').fill('linus@example.com')
      await page.getByRole('button', { name: 'Invite', exact: true }).click()
      await expect(page.getByRole('heading', { name: 'linus@example.com is invited' })).toBeInViewport()
      await expect(page.getByRole('group', { name: /Invitation link/ })).toContainText('/invite?token=')
      await page.getByLabel('Email').fill('grace@example.com')
      await page.getByRole('button', { name: 'Invite' }).click()
      await expect(page.getByRole('status').filter({ hasText: 'it has the role guest now' })).toBeVisible()

      await page.getByRole('link', { name: 'grace@example.com' }).click()
      await page.getByRole('combobox', { name: 'Role' }).selectOption('contributor')
      await page.getByRole('button', { name: 'Save' }).click()
      await expect(page.getByRole('status')).toContainText('The role was given.')
      await expect(page.getByRole('row', { name: /^Contributor Publish .* Yes$/ })).toBeVisible()

      await page.getByRole('link', { name: 'Settings' }).last().click()
      await page.getByLabel('Email of the new owner').fill('grace@example.com')
      const transfer = page.getByRole('region', { name: 'Transfer ownership' })
      await transfer.getByLabel(/^Type .* to confirm$/).fill('website')
      await transfer.getByRole('button').click()
      await expect(transfer.getByLabel(/^Type .* to confirm$/)).toHaveAccessibleDescription(
        /Type acme\/website to confirm/,
      )
      await transfer.getByLabel(/^Type .* to confirm$/).fill('acme/website')
      await transfer.getByRole('button').click()
      await expect(page.getByRole('status')).toContainText('The project has a new owner.')

      await page.getByRole('link', { name: 'Secrets' }).click()
      await page.getByLabel('Name').fill('MAIL_API_KEY')
      await page.getByLabel('Value').fill('hunter2')
      await page.getByRole('button', { name: 'Store' }).click()
      await expect(page.getByRole('rowheader', { name: 'MAIL_API_KEY' })).toBeVisible()
      await expect(page.getByText('hunter2')).toHaveCount(0)
    })
  })
