import type { BrowserContext, Page } from '@playwright/test'
import { expect, scripted, signIn, test, WITH_ADMIN } from './journey.ts'

test.use({ env: WITH_ADMIN })

/** Removes what Safari 16 does not have: popovers, in the markup and the stylesheet, and a few methods. */
async function makeOlder(context: BrowserContext): Promise<void> {
  await context.addInitScript(() => {
    const methods = ['popover', 'showPopover', 'hidePopover', 'togglePopover', 'checkVisibility']
    for (const place of [HTMLElement.prototype, Element.prototype, Map, Object])
      for (const name of [...methods, 'groupBy']) Reflect.deleteProperty(place, name)
  })
  await context.route('**', async (route) => {
    const { origin, pathname } = new URL(route.request().url())
    const isPage = route.request().isNavigationRequest() && route.request().method() === 'GET'
    if (!isPage && !pathname.endsWith('.css')) return route.fallback()
    const response = await route.fetch({ maxRedirects: 0 })
    const type = response.headers()['content-type'] ?? ''
    if (!/html|css/.test(type) || !origin.includes('localhost')) return route.fulfill({ response })
    const body = await response.text()
    return route.fulfill({ response, body: isPage ? body.replaceAll(/ popover(?=[ >])/g, '') : older(body) })
  })
}

/** Browsers ignore a rule with an unknown selector, and a block whose condition is false. */
const older = (css: string) =>
  css
    .replace('@supports selector(:popover-open)', '@supports not (display: block)')
    .replaceAll(/[^{}]*:not\(:popover-open\)[^{}]*\{[^{}]*\}/g, '')

const isInside = (page: Page, selector: string) =>
  page.locator(selector).evaluate((element) => {
    const { left, right } = element.getBoundingClientRect()
    return left >= 0 && right <= innerWidth
  })

test('everything works in a browser without popovers', async ({ page, context, appliance }) => {
  await makeOlder(context)
  for (const name of ['website', 'handbook'])
    await appliance.asAdmin('POST', '/api/projects', { owner: 'acme', name })
  await appliance.asAdmin('POST', '/api/api-keys', { name: 'ci', isGlobal: true })
  await page.goto(`${appliance.url}/keys`)
  await signIn(page)

  const form = page.getByRole('dialog', { name: 'Revoke ci?' })
  await expect(page.getByRole('button', { name: 'Revoke ci' })).toBeVisible()
  await expect(form).toBeHidden()
  await page.getByRole('button', { name: 'Revoke ci' }).click()
  await expect(form).toBeVisible()
  await form.getByRole('button', { name: 'Cancel' }).click()
  await expect(form).toBeHidden()
  await page.getByRole('button', { name: 'Revoke ci' }).click()
  await form.getByRole('button', { name: 'Revoke the key' }).click()
  await expect(page.getByRole('status')).toContainText('The key was revoked.')

  await scripted(page)
  await page.keyboard.press('Control+k')
  const palette = page.getByRole('dialog', { name: 'Commands' })
  await expect(palette.getByRole('combobox')).toBeFocused()
  await page.keyboard.type('hand')
  const found = palette.getByRole('option', { name: 'handbook', exact: true })
  await expect(found).toHaveAttribute('aria-selected', 'true')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: 'handbook' })).toBeVisible()
})

test('on a phone without popovers the navigation covers nothing', async ({ page, context, appliance }) => {
  await makeOlder(context)
  await page.setViewportSize({ width: 360, height: 800 })
  await page.goto(`${appliance.url}/keys`)
  await signIn(page)
  await page.getByLabel('Name').fill('laptop')
  await page.getByRole('button', { name: 'Create key' }).click()
  await expect(page.getByRole('group', { name: 'API key' })).toBeVisible()
  await expect(page.getByRole('button', { name: 'Menu' })).toBeHidden()
  for (const selector of ['.sidebar', '.content']) expect(await isInside(page, selector)).toBe(true)
  await page.getByRole('link', { name: 'Audit log' }).click()
  await expect(page.getByRole('heading', { name: 'Audit log', level: 1 })).toBeVisible()
})
