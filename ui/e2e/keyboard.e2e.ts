import type { Locator, Page } from '@playwright/test'
import { expect, openAsAdmin, scripted, test, WITH_ADMIN } from './journey.ts'
import { createWebsite, pageOf } from './publish-website.ts'

/** Publish, compare, roll back, undo, invite: nothing but keys. contract 17.10. */

test.use({ env: WITH_ADMIN })

const MOST_KEYS = 150

/** Goes on with `Tab` until it is there. */
async function reach(page: Page, target: Locator, key = 'Tab'): Promise<void> {
  await expect(target).toBeVisible()
  for (let pressed = 0; pressed < MOST_KEYS; pressed++) {
    if (await target.evaluate((element) => element === document.activeElement)) return
    await page.keyboard.press(key)
  }
  await expect(target).toBeFocused()
}

async function press(page: Page, target: Locator): Promise<void> {
  await reach(page, target)
  await page.keyboard.press('Enter')
}

const link = (page: Page, name: string) => page.getByRole('link', { name, exact: true }).first()
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const headline = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true })

async function publish(page: Page, site: string, description: string): Promise<void> {
  await expect(headline(page, 'Publish')).toBeVisible()
  await scripted(page)
  const chooser = page.waitForEvent('filechooser')
  await reach(page, page.getByLabel('Choose a folder'))
  await page.keyboard.press('Space')
  await (await chooser).setFiles(site)
  await reach(page, page.getByLabel('Description'))
  await page.keyboard.type(description)
  await press(page, button(page, 'Publish'))
  await expect(page.getByRole('heading', { name: 'Published', level: 2 })).toBeFocused()
}

async function command(page: Page, words: string): Promise<void> {
  await scripted(page)
  await page.keyboard.press('Control+k')
  await page.keyboard.type(words)
  await page.keyboard.press('Enter')
}

test('a site is published, compared, rolled back and brought back', async ({ page, appliance, folder }) => {
  test.setTimeout(360_000)
  const { id } = await createWebsite(appliance)
  await openAsAdmin(page, appliance, '/')
  await expect(headline(page, 'Projects')).toBeVisible()
  await command(page, 'publish to web')
  await publish(page, folder({ 'index.html': pageOf('We bake') }), 'First')
  await command(page, 'publish to web')
  await publish(page, folder({ 'index.html': pageOf('We brake') }), 'Second')

  await command(page, 'deployments')
  await press(page, link(page, 'Compare #2'))
  await expect(headline(page, 'Compare #1 with #2')).toBeVisible()
  await press(page, link(page, 'index.html'))
  await press(page, link(page, 'Side by side'))
  await expect(page.getByRole('row', { name: /We bake.*We brake/ })).toBeVisible()

  await page.keyboard.press('Control+k')
  await page.keyboard.type('projects')
  await page.keyboard.press('Enter')
  await expect(headline(page, 'Projects')).toBeVisible()
  await press(page, button(page, 'Roll back website'))
  await expect(button(page, 'Cancel')).toBeFocused()
  await press(page, button(page, 'Roll back to #1'))
  const said = page.getByRole('status').filter({ hasText: 'production of acme/website from #2 to #1' })
  // The focus is on the heading, and what is said stands before it.
  await reach(page, said.getByRole('button', { name: 'Undo' }), 'Shift+Tab')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('status').filter({ hasText: 'undid' })).toBeVisible()
  await page.goto(`${appliance.url}/projects/${id}/deployments`)
  await expect(button(page, 'Roll back to #1')).toBeVisible()
})

test('a command does what the button does', async ({ page, appliance }) => {
  const { id, upload } = await createWebsite(appliance)
  for (const text of ['a', 'b'])
    await upload({ 'index.html': pageOf(text) }, { commitSha: text.repeat(12), alias: 'production' })
  await openAsAdmin(page, appliance, `/projects/${id}`)
  await expect(headline(page, 'website')).toBeVisible()
  // Twice: the second time on the very page.
  for (const _ of [1, 2]) {
    await command(page, 'roll back web')
    await expect(page.getByRole('dialog', { name: 'Roll back production' })).toBeVisible()
    await expect(button(page, 'Cancel')).toBeFocused()
    await page.keyboard.press('Escape')
  }
  await command(page, 'invite')
  await expect(headline(page, 'People')).toBeVisible()
  await expect(page.getByRole('textbox', { name: 'Email' })).toBeFocused()
  await page.keyboard.type('grace@example.com')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('group', { name: /Invitation link/ })).toContainText('/invite?token=')
  await press(page, link(page, 'Invite somebody'))
  await expect(page.getByRole('textbox', { name: 'Email' })).toBeFocused()
})
