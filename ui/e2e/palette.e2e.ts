import type { Page } from '@playwright/test'
import { violationsInBothThemes } from './axe.ts'
import { expect, scripted, signIn, test, WITH_ADMIN } from './journey.ts'

test.use({ env: WITH_ADMIN })

const input = (page: Page) => page.getByRole('combobox', { name: 'Find a page, a project or a command' })
const option = (page: Page, name: string) => page.getByRole('option', { name, exact: true })

test('a project and its pages are found with the keyboard only', async ({ page, appliance }) => {
  for (const name of ['website', 'handbook'])
    await appliance.asAdmin('POST', '/api/projects', { owner: 'acme', name })
  await page.goto(`${appliance.url}/admin/health`)
  await signIn(page)
  await expect(page.getByRole('heading', { name: 'Health' })).toBeVisible()
  await scripted(page)
  await page.keyboard.press('Control+k')
  const dialog = page.getByRole('dialog', { name: 'Commands' })
  await expect(input(page)).toBeFocused()
  await expect(dialog.getByRole('listbox', { name: 'Results' })).toBeVisible()
  await page.keyboard.type('hand')
  await expect(option(page, 'handbook')).toHaveAttribute('aria-selected', 'true')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: 'handbook' })).toBeVisible()
  await scripted(page)

  await page.keyboard.press('Control+k')
  await expect(dialog.getByRole('group', { name: 'Last used' }).getByRole('option')).toHaveText(['handbook'])
  await expect(dialog.getByRole('group', { name: 'acme/handbook' })).toBeVisible()
  await expect(dialog.getByRole('status')).toHaveText('20 results')
  await page.keyboard.press('ArrowDown')
  const second = page.getByRole('option').nth(1)
  await expect(second).toHaveAttribute('aria-selected', 'true')
  const active = await second.getAttribute('id')
  await expect(input(page)).toHaveAttribute('aria-activedescendant', active ?? 'none')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('ArrowUp')
  await expect(page.getByRole('option').last()).toHaveAttribute('aria-selected', 'true')
  await page.keyboard.type('secrets')
  await expect(option(page, 'Secrets')).toHaveAttribute('aria-selected', 'true')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: 'Secrets', level: 1 })).toBeVisible()
})

test('commands act by the keyboard alone: copying, the theme, publishing', async ({
  page,
  context,
  appliance,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const made = await appliance.asAdmin('POST', '/api/projects', { owner: 'acme', name: 'website' })
  const { id, url } = await made.json()
  await page.goto(appliance.url)
  await signIn(page)
  await scripted(page)
  const does = async (words: string) => {
    await page.keyboard.press('Control+k')
    await page.keyboard.type(words)
    await page.keyboard.press('Enter')
  }
  const html = page.locator('html')
  await does('dark')
  await expect(html).toHaveAttribute('data-theme', 'dark')
  await expect(page.getByRole('heading', { name: 'Projects' })).toBeFocused()
  await does('light the')
  await expect(html).toHaveAttribute('data-theme', 'light')
  await does('sys theme')
  await expect(html).not.toHaveAttribute('data-theme')
  await scripted(page)
  await does('keyb sho')
  await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible()
  await page.keyboard.press('Escape')
  if (url !== null) {
    await does('copy website')
    await expect(page.getByRole('status').filter({ hasText: `Copied ${url}` })).toBeVisible()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(url)
  }
  await does('publish web')
  await expect(page).toHaveURL(`${appliance.url}/projects/${id}/publish`)
  await scripted(page)
  await does('rotating secrets')
  await expect(page).toHaveURL(`${appliance.url}/docs/operating#rotating-secrets`)
  await page.goBack()
  await scripted(page)
  await does('sign out')
  await expect(page).toHaveURL(`${appliance.url}/signed-out`)
})

test('the palette and the list of keys are accessible in both themes', async ({ page, appliance }) => {
  await page.goto(appliance.url)
  await signIn(page)
  await scripted(page)
  for (const [key, name] of [
    ['Control+k', 'Commands'],
    ['?', 'Keyboard shortcuts'],
  ] as const) {
    await page.keyboard.press(key)
    await expect(page.getByRole('dialog', { name })).toBeVisible()
    const violations = await violationsInBothThemes(page, { parts: ['dialog[open]'] })
    expect(violations.map(({ id }) => id)).toEqual([])
    await page.keyboard.press('Escape')
    await expect(page.getByRole('dialog', { name })).toBeHidden()
  }
})

test('its button opens it, it says if nothing is found, and Escape returns the focus', async ({
  page,
  appliance,
}) => {
  await page.goto(appliance.url)
  await signIn(page)
  const opener = page.getByRole('button', { name: 'Search and commands' })
  await opener.click()
  await input(page).fill('zebra')
  await expect(page.getByText('Nothing found')).toBeVisible()
  await expect(page.getByRole('option')).toHaveCount(0)
  await page.keyboard.press('Escape')
  await expect(input(page)).toBeHidden()
  await expect(opener).toBeFocused()
})

test('single keys search, open a tab or show the shortcuts, and can be turned off', async ({
  page,
  appliance,
}) => {
  const { id } = await (
    await appliance.asAdmin('POST', '/api/projects', { owner: 'acme', name: 'website' })
  ).json()
  await page.goto(`${appliance.url}/projects/${id}`)
  await signIn(page)
  await expect(page.getByRole('heading', { name: 'website' })).toBeVisible()
  await scripted(page)
  await page.keyboard.press('2')
  await expect(page.getByRole('heading', { name: 'Deployments', level: 1 })).toBeVisible()

  await page.goto(appliance.url)
  await page.keyboard.press('/')
  await expect(page.getByLabel('Find a project')).toBeFocused()
  await page.keyboard.type('3/?')
  await expect(page.getByLabel('Find a project')).toHaveValue('3/?')
  await page.getByRole('heading', { name: 'Projects', level: 1 }).click()

  await page.keyboard.press('?')
  const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await expect(help.getByText('Search the list of this page')).toBeVisible()
  await help.getByLabel('Enable single-key shortcuts').uncheck()
  await help.getByRole('button', { name: 'Close' }).click()
  await expect(help).toBeHidden()
  await page.reload()
  await page.keyboard.press('?')
  await page.keyboard.press('Control+k')
  await expect(input(page)).toBeVisible()
  await expect(help).toBeHidden()
  await page.keyboard.press('Escape')
  await page.getByLabel(/^Account menu of/).click()
  await page.getByRole('button', { name: 'Keyboard shortcuts' }).click()
  await expect(help.getByLabel('Enable single-key shortcuts')).not.toBeChecked()
})

test('the result of a form can be closed, and does not come back', async ({ page, appliance }) => {
  await page.goto(`${appliance.url}/admin/settings/auth`)
  await signIn(page)
  const save = page.getByRole('button', { name: 'Save: Anyone can register' })
  await save.click()
  await expect(page.getByRole('status')).toContainText('Saved.')
  await expect(page).toHaveURL(`${appliance.url}/admin/settings/auth`)
  await page.reload()
  await expect(save).toBeVisible()
  // Immediately: a message that came back would disappear after a while.
  expect(await page.getByRole('status').count()).toBe(0)
  await save.click()
  await page.getByRole('button', { name: 'Close: message' }).click()
  await expect(page.getByRole('status')).toHaveCount(0)
})

test.describe('without scripts', () => {
  test.use({ javaScriptEnabled: false })

  test('no button needs them, and the result of a form stays visible', async ({ page, appliance }) => {
    await page.goto(`${appliance.url}/admin/settings/auth`)
    await signIn(page)
    const save = page.getByRole('button', { name: 'Save: Anyone can register' })
    await expect(save).toBeVisible()
    for (const name of ['Keyboard shortcuts', 'Close: message'])
      await expect(page.getByRole('button', { name })).toHaveCount(0)
    await expect(page.locator('dialog[open]')).toHaveCount(0)
    await save.click()
    await expect(page.getByRole('status')).toContainText('Saved.')
    await page.keyboard.press('Control+k')
    await page.keyboard.press('3')
    await expect(page.getByRole('heading', { name: 'Settings', level: 1 })).toBeVisible()
  })

  test('the button leads to a page of commands, and the menu has the themes', async ({ page, appliance }) => {
    await page.goto(`${appliance.url}/admin/users`)
    await signIn(page)
    await page.getByLabel(/^Account menu of/).click()
    const theme = page.getByRole('group', { name: 'Theme' })
    await theme.getByRole('button', { name: 'Dark theme' }).click()
    await expect(page).toHaveURL(`${appliance.url}/admin/users`)
    await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark')
    await page.getByRole('button', { name: 'Search and commands' }).click()
    await expect(page.getByRole('heading', { name: 'Commands' })).toBeVisible()
    await page.getByRole('searchbox', { name: 'Find a page, a project or a command' }).fill('audit')
    await page.keyboard.press('Enter')
    await page.getByRole('main').getByRole('link', { name: 'Audit log', exact: true }).first().click()
    await expect(page.getByRole('heading', { name: 'Audit log' })).toBeVisible()
  })
})

test.describe('far from Greenwich', () => {
  test.use({ timezoneId: 'Asia/Tokyo' })

  test('times are in the viewer’s time zone, with the exact time on hover', async ({ page, appliance }) => {
    await page.goto(`${appliance.url}/admin/audit`)
    await signIn(page)
    const time = page.getByRole('time').first()
    await expect(time).toHaveText(/just now|ago/)
    await expect(time).toHaveAttribute('title', /\d{2}:\d{2}:\d{2} (GMT\+9|JST)$/)
  })
})
