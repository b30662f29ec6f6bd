import { readFileSync } from 'node:fs'
import { ADMIN, expect, signIn, test, WITH_ADMIN } from './journey.ts'

test.use({ env: WITH_ADMIN })

const RUTH = { email: 'ruth@example.com', password: 'correct horse battery staple' }

for (const javaScriptEnabled of [true, false])
  test.describe(javaScriptEnabled ? 'with scripts' : 'without scripts', () => {
    test.use({ javaScriptEnabled })

    test('an admin looks at a person, suspends them, lets them back in, and takes a backup along', async ({
      browser,
      page,
      appliance,
    }) => {
      expect((await appliance.asAdmin('POST', '/api/users', { ...RUTH, role: 'user' })).status).toBe(201)
      const hers = await browser.newContext({ javaScriptEnabled })
      const herPage = await hers.newPage()
      await herPage.goto(`${appliance.url}/account`)
      await signIn(herPage, RUTH)

      await page.goto(`${appliance.url}/admin/users`)
      await signIn(page, ADMIN)
      await expect(page.getByRole('columnheader', { name: 'Last seen' })).toBeVisible()
      await page.getByRole('link', { name: RUTH.email }).click()
      await expect(page.getByRole('heading', { level: 1 })).toHaveText(RUTH.email)
      for (const name of ['Projects', 'Groups', 'Sessions', 'Second step', 'API keys', 'Suspend', 'Delete'])
        await expect(page.getByRole('region', { name, exact: true })).toBeVisible()
      await page
        .getByRole('region', { name: 'Sessions' })
        .getByRole('button', { name: /^End session: Chrome.*, 127\.0\.0\.1$/ })
        .click()
      await expect(page.getByText('Signed out there.')).toBeVisible()
      await herPage.reload()
      await signIn(herPage, RUTH)

      await page.getByLabel('Reason').fill('Left <the> company')
      await page.getByRole('button', { name: 'Suspend', exact: true }).click()
      await expect(page.getByText('Left <the> company')).toBeVisible()
      await herPage.reload()
      await signIn(herPage, RUTH)
      await expect(herPage.getByText('This account is suspended.')).toBeVisible()
      await page.getByRole('button', { name: 'Let back in' }).click()
      await herPage.goto(`${appliance.url}/account`)
      await signIn(herPage, RUTH)
      await expect(herPage.getByRole('heading', { name: 'Your account' })).toBeVisible()
      await hers.close()

      await page.goto(`${appliance.url}/admin/backups`)
      const make = page.getByRole('button', { name: 'Make a backup and download it' })
      await page.getByLabel('Your password').fill('wrong')
      await make.click()
      await expect(page.getByText('The password is wrong')).toBeVisible()
      await page.getByLabel('Your password').fill(ADMIN.password)
      const downloading = page.waitForEvent('download')
      await make.click()
      const download = await downloading
      expect(download.suggestedFilename()).toMatch(/^svc-\d{8}T\d{6}Z\.backup$/)
      expect(readFileSync(await download.path()).toString('latin1', 0, 15)).toBe('svc-backup.json')
      if (javaScriptEnabled) {
        await page.goto(`${appliance.url}/account`)
        const password = page.getByLabel('New password')
        const show = page.getByRole('button', { name: 'Show password', exact: true })
        await expect(password).toHaveAttribute('type', 'password')
        await show.press('Enter')
        await expect(show).toHaveAttribute('aria-pressed', 'true')
        await expect(password).toHaveAttribute('type', 'text')
      }
      await page.goto(`${appliance.url}/admin/health`)
      await expect(page.getByText(/downloaded by/)).toBeVisible()
    })
  })
