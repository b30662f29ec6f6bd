import type { Page } from '@playwright/test'
import { type Appliance, expect, signIn, test, WITH_ADMIN } from './journey.ts'

test.use({ env: WITH_ADMIN })

const RULE = {
  pathPattern: '/api/refresh',
  method: 'POST',
  proxyType: 'pipeline',
  pipelineConfig: { steps: [] },
}

/** Signed in, at the form of a new schedule. */
async function openForm(page: Page, { url }: Appliance): Promise<void> {
  await page.goto(`${url}/projects/new`)
  await signIn(page)
  await page.waitForURL('**/projects/new')
  const post = async (path: string, data: unknown) => {
    const answer = await page.request.post(`${url}${path}`, { headers: { origin: url }, data })
    expect(answer.status()).toBe(201)
    return (await answer.json()) as { id: string }
  }
  const { id } = await post('/api/projects', { owner: 'acme', name: 'docs' })
  await post(`/api/proxy-rules/project/${id}`, RULE)
  await page.goto(`${url}/projects/${id}/schedules/new`)
}

test.describe('in Kathmandu', () => {
  test.use({ timezoneId: 'Asia/Kathmandu' })

  test('the form shows the next five times while one types, in its zone and in the reader’s', async ({
    page,
    appliance,
  }) => {
    await openForm(page, appliance)
    await expect(page.getByRole('button', { name: 'Show the next times' })).toBeHidden()
    await page.getByLabel('Name', { exact: true }).fill('refresh')
    await page.getByLabel('Time zone').fill('Asia/Tokyo')
    await page.getByLabel('When').fill('30 9 * * *')
    const times = page.getByRole('table', { name: 'Next times' })
    await expect(times.getByRole('row')).toHaveCount(6)
    await expect(times.getByRole('columnheader', { name: 'Where you are (Asia/' })).toBeVisible()
    await expect(times.getByRole('row').nth(1)).toContainText('09:30')
    await expect(times.getByRole('row').nth(1)).toContainText('06:15')
    await page.getByLabel('When').fill('30 25 * * *')
    await expect(page.getByText('0 to 23')).toBeVisible()
    await expect(times).toBeHidden()
    await page.getByLabel('When').fill('@hourly')
    await expect(times.getByRole('row')).toHaveCount(6)
    await page.getByRole('button', { name: 'Create schedule' }).click()
    await expect(page.getByText('The schedule was created.')).toBeVisible()

    await page.getByRole('button', { name: 'Run now: refresh' }).click()
    await expect(page.getByText('It is running now.')).toBeVisible()
    await page.getByRole('navigation', { name: 'Rules' }).getByRole('link', { name: 'Schedules' }).click()
    await expect(page.getByText('OK', { exact: true })).toBeVisible()
    await page.getByRole('button', { name: 'Pause refresh' }).click()
    await expect(page.getByRole('cell', { name: 'Paused' })).toBeVisible()
  })
})

test.describe('without scripts', () => {
  test.use({ javaScriptEnabled: false })

  test('a button shows the next times, and what was typed stays', async ({ page, appliance }) => {
    await openForm(page, appliance)
    await page.getByLabel('When').fill('0 6 * * 1-5')
    await page.getByRole('button', { name: 'Show the next times' }).click()
    await expect(page.getByRole('table', { name: 'Next times' }).getByRole('row')).toHaveCount(6)
    await expect(page.getByLabel('When')).toHaveValue('0 6 * * 1-5')
    await page.getByLabel('Name', { exact: true }).fill('weekdays')
    await page.getByRole('button', { name: 'Create schedule' }).click()
    await expect(page.getByRole('heading', { name: 'weekdays', level: 1 })).toBeVisible()
  })
})
