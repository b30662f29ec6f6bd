import { ADMIN, createKey, expect, signIn, test, WITH_ADMIN } from './journey.ts'

test.use({ env: WITH_ADMIN })

const EVE = { email: 'eve@example.com', password: 'correct horse battery staple' }

for (const javaScriptEnabled of [true, false])
  test.describe(javaScriptEnabled ? 'with scripts' : 'without scripts', () => {
    test.use({ javaScriptEnabled })

    test('an admin leaves: their key is asked about, stops, is told of at home and taken over', async ({
      browser,
      page,
      appliance,
    }) => {
      const made = await appliance.asAdmin('POST', '/api/users', { ...EVE, role: 'admin' })
      expect(made.status).toBe(201)
      const hers = await browser.newContext({ javaScriptEnabled })
      const herPage = await hers.newPage()
      await herPage.goto(`${appliance.url}/keys`)
      await signIn(herPage, EVE)
      const key = await createKey(herPage, 'nightly', 'All projects')
      await hers.close()
      const use = async () => {
        const headers = { authorization: `Bearer ${key}` }
        const answer = await fetch(`${appliance.url}/api/projects`, { headers })
        return answer.status === 200 ? 'good' : (await answer.json()).error
      }
      expect(await use()).toBe('good')

      await page.goto(`${appliance.url}/admin/users`)
      await signIn(page, ADMIN)
      await page.getByRole('link', { name: EVE.email }).click()
      await page.getByRole('button', { name: 'Delete this user' }).click()
      const question = page.getByRole('dialog', { name: `Delete ${EVE.email}?` })
      await expect(question.getByRole('listitem')).toContainText(/nightly \(svc_.*…, last used/)
      await expect(question.getByLabel('Their API keys')).toHaveValue('suspend')
      expect(await use()).toBe('good')
      await question.getByLabel(`Type ${EVE.email} to confirm`).fill(EVE.email)
      await question.getByRole('button', { name: 'Delete the user' }).click()
      await expect(page.getByText('The account was deleted.')).toBeVisible()
      expect(await use()).toBe('API_KEY_SUSPENDED')

      await page.goto(appliance.url)
      await expect(page.getByText('An API key is suspended')).toContainText(/nightly \(svc_.*…, last used/)
      await page.getByText('An API key is suspended').getByRole('link', { name: 'API keys' }).click()
      const row = page.getByRole('row').filter({ hasText: 'nightly' })
      await expect(row).toContainText('The account that made it was deleted.')
      await row.getByRole('button', { name: 'Take over nightly' }).click()
      await page
        .getByRole('dialog', { name: 'Take over nightly?' })
        .getByRole('button', { name: 'Take over the key' })
        .click()
      await expect(page.getByText('The key works again and is yours.')).toBeVisible()
      await expect(page.getByText('Suspended')).toHaveCount(0)
      expect(await use()).toBe('good')
      await page.goto(appliance.url)
      await expect(page.getByText(/is suspended/)).toHaveCount(0)
    })

    test('an admin is demoted and hands their key over in the same step', async ({ page, appliance }) => {
      const user = await (await appliance.asAdmin('POST', '/api/users', { ...EVE, role: 'admin' })).json()
      const cookie = await fetch(`${appliance.url}/api/auth/signin`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(EVE),
      }).then(({ headers }) =>
        headers
          .getSetCookie()
          .map((one) => one.split(';')[0])
          .join('; '),
      )
      const answer = await fetch(`${appliance.url}/api/api-keys`, {
        method: 'POST',
        headers: { cookie, 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'nightly', isGlobal: true }),
      })
      const { key } = await answer.json()

      await page.goto(`${appliance.url}/admin/users/${user.id}`)
      await signIn(page, ADMIN)
      const card = page.getByRole('region', { name: 'Role in the workspace' })
      await expect(card.getByRole('listitem')).toContainText(/nightly \(svc_.*…, last used never/)
      await card.getByLabel('Role', { exact: true }).selectOption('user')
      await card.getByLabel('Their API keys').selectOption('take-over')
      await card.getByRole('button', { name: 'Save the role' }).click()
      await expect(page.getByText('The role was saved.')).toBeVisible()
      await expect(page.getByText('nightly')).toHaveCount(0)
      const used = await fetch(`${appliance.url}/api/projects`, { headers: { 'x-api-key': key } })
      expect(used.status).toBe(200)
    })
  })
