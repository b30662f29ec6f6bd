import type { Page } from '@playwright/test'
import { violationsInBothThemes } from './axe.ts'
import { expect, signIn, test, WITH_ADMIN } from './journey.ts'

test.use({ env: WITH_ADMIN })

/** The list is long, and only filtered entries are sure to be rendered. */
async function openProjects(page: Page): Promise<void> {
  await page.getByRole('textbox', { name: 'Filter by tag or path' }).fill('Projects')
  await page.getByRole('button', { name: /GET.*\/api\/projects.*Projects that the caller/i }).click()
}

/** Sends the request. The operation's description has its own 200. */
async function execute(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Execute' }).click()
  const answer = page.locator('.live-responses-table')
  await expect(answer.getByRole('cell', { name: '200', exact: true }).first()).toBeVisible()
}

test('the explorer lists the API and tries a request with the session', async ({ page, appliance }) => {
  await page.goto(appliance.url)
  await signIn(page)
  await page.goto(`${appliance.url}/api/docs`)
  await expect(page.getByRole('heading', { name: /^svc/ })).toBeVisible()

  await openProjects(page)
  await execute(page)
  await expect(page.getByRole('link', { name: 'Open the admin' })).toHaveAttribute('href', '/')
})

test('the explorer tries a request with a key', async ({ page, appliance }) => {
  const made = await appliance.asAdmin('POST', '/api/api-keys', { name: 'try', isGlobal: true })
  const { key } = await made.json()
  await page.goto(`${appliance.url}/api/docs`)
  await page.getByRole('button', { name: 'Authorize', exact: true }).first().click()
  await page.getByRole('textbox', { name: /value/i }).first().fill(key)
  await page.getByRole('button', { name: 'Authorize with these credentials' }).first().click()
  await page.getByRole('button', { name: 'Close' }).last().click()

  await openProjects(page)
  await execute(page)
})

test('the explorer is accessible in both themes', async ({ page, appliance }) => {
  test.setTimeout(480_000)
  const wrong: string[] = []
  const check = async (part: string) => {
    const violations = await violationsInBothThemes(page, { parts: part.split(', ') })
    const faults = violations.filter(({ tags }) => !tags.includes('best-practice'))
    wrong.push(...faults.map(({ id, nodes }) => `${id} ${nodes.map(({ html }) => html)}`))
  }
  await page.goto(`${appliance.url}/api/docs`)
  await page.getByRole('button', { name: 'Authorize', exact: true }).first().click()
  await expect(page.locator('.dialog-ux')).toBeVisible()
  await check('.information-container, .scheme-container, .dialog-ux')
  await page.getByRole('button', { name: 'Close' }).last().click()
  await openProjects(page)
  await page.locator('.opblock-delete .opblock-summary-control').first().dispatchEvent('click')
  await expect(page.locator('.opblock.is-open')).toHaveCount(2)
  // The others are more of the same.
  await check('.opblock.is-open')
  expect(wrong).toEqual([])
})
