import { expect, signIn, test, WITH_ADMIN } from './journey.ts'

for (const javaScriptEnabled of [true, false])
  test.describe(javaScriptEnabled ? 'with scripts' : 'without scripts', () => {
    test.use({ env: WITH_ADMIN, javaScriptEnabled })

    test('the documents are read without signing in, searched, and found from a page of the admin', async ({
      page,
      appliance,
    }) => {
      await page.goto(`${appliance.url}/docs`)
      await expect(page.getByRole('heading', { name: 'Documents', level: 1 })).toBeVisible()
      await page.getByRole('searchbox', { name: 'Search the documents' }).fill('rotating secrets')
      await page.keyboard.press('Enter')
      await page.getByRole('link', { name: 'Rotating secrets' }).first().click()
      await expect(page).toHaveURL(`${appliance.url}/docs/operating#rotating-secrets`)
      const contents = page.getByRole('navigation', { name: 'On this page' })
      await contents.getByRole('link', { name: 'Mail', exact: true }).click()
      await expect(page.getByRole('heading', { name: 'Mail', level: 2, exact: true })).toBeInViewport()
      await expect(page.getByRole('button', { name: 'Copy', exact: true })).toHaveCount(
        javaScriptEnabled ? await page.locator('.copyable').count() : 0,
      )

      await page.goto(`${appliance.url}/keys`)
      await signIn(page)
      await page.getByRole('link', { name: 'Help', exact: true }).click()
      await expect(page.getByRole('heading', { name: 'API keys', level: 2 })).toBeInViewport()
      await page.goto(`${appliance.url}/docs/architecture`)
      const picture = page.getByRole('img', { name: /^The rooms of svc as floors/ })
      await picture.scrollIntoViewIfNeeded()
      await expect
        .poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth))
        .toBeGreaterThan(0)
    })
  })

test.describe('by the keyboard alone', () => {
  test.use({ env: WITH_ADMIN })

  test('a command is copied', async ({ page, context, appliance }) => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.goto(`${appliance.url}/docs/start#4-settings`)
    const commands = page.locator('.copyable', { hasText: 'BASE_DOMAIN=sites.example.com' }).first()
    const copy = commands.getByRole('button', { name: 'Copy', exact: true })
    await copy.focus()
    await page.keyboard.press('Enter')
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(
      'BASE_DOMAIN=sites.example.com',
    )
  })
})
