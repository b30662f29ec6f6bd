import { expect, scripted, signIn, test, WITH_ADMIN } from './journey.ts'

test.use({ env: WITH_ADMIN })

for (const javaScriptEnabled of [true, false])
  test.describe(javaScriptEnabled ? 'with scripts' : 'without scripts', () => {
    test.use({ javaScriptEnabled })

    test('an admin makes a user and a group, opens the registration, and finds it in the log', async ({
      page,
      appliance,
    }) => {
      await page.goto(`${appliance.url}/admin/users`)
      await signIn(page)
      await page.getByLabel('Email').fill('grace@example.com')
      await page.getByLabel('Role').selectOption({ label: 'User: can also create projects' })
      await page.getByRole('button', { name: 'Create user' }).click()
      await expect(page.getByRole('group', { name: /Link to set the password/ })).toContainText('token=')

      await page.getByRole('link', { name: 'Groups' }).click()
      await expect(page.getByRole('heading', { name: 'No groups yet' })).toBeVisible()
      await page.getByLabel('Name').fill('Editors')
      await page.getByRole('button', { name: 'Create group' }).click()
      await page.getByLabel('Email').fill('grace@example.com')
      await page.getByRole('button', { name: 'Add to the group' }).click()
      await expect(page.getByRole('rowheader', { name: 'grace@example.com' })).toBeVisible()

      await page.getByRole('link', { name: 'Settings' }).click()
      await expect(page.getByRole('heading', { name: 'Project Membership' })).toBeVisible()
      await page.getByRole('checkbox', { name: 'Anyone can register' }).check()
      await page.getByRole('button', { name: 'Save: Anyone can register' }).click()
      await expect(page.getByRole('status')).toContainText('Saved.')

      await page.getByRole('link', { name: 'Audit log' }).click()
      await page.getByRole('combobox', { name: 'What' }).selectOption('settings')
      await page.getByRole('button', { name: 'Filter' }).click()
      const row = page.getByRole('row').filter({ hasText: 'changed the settings of the workspace' })
      await row.getByText('Details').click()
      await expect(row).toContainText('allowPublicSignups false → true')

      await page.getByRole('link', { name: 'Health' }).click()
      for (const part of ['Database', 'Storage'])
        await expect(page.getByRole('row').filter({ hasText: part })).toContainText('OK')
    })
  })

test('every page is a few keys away', async ({ page, appliance }) => {
  await page.goto(appliance.url)
  await signIn(page)
  await expect(page.getByRole('heading', { name: 'Projects' })).toBeVisible()
  await scripted(page)
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Find a page, a project or a command' }).fill('audit')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: 'Audit log' })).toBeVisible()
  await expect(page.getByTitle(/UTC$/).first()).toHaveText(/just now|ago/)
})
