import type { Page } from '@playwright/test'
import { type Appliance, expect, signIn, test, WITH_ADMIN } from './journey.ts'

test.use({ env: { ...WITH_ADMIN, RETENTION_GRACE_MINUTES: '0' } })

async function makeProject(page: Page, { url }: Appliance): Promise<string> {
  const made = await page.request.post(`${url}/api/projects`, {
    headers: { origin: url },
    data: { owner: 'acme', name: 'docs' },
  })
  return ((await made.json()) as { id: string }).id
}

test('rules are typed and show at once what goes, then they are saved and run', async ({
  page,
  appliance,
}) => {
  await page.goto(`${appliance.url}/projects/new`)
  await signIn(page)
  await page.waitForURL('**/projects/new')
  const api = page.request
  const headers = { origin: appliance.url }
  const id = await makeProject(page, appliance)
  for (const digit of ['1', '2', '3']) {
    const answer = await api.post(`${appliance.url}/api/deployments`, {
      headers,
      multipart: {
        repository: 'acme/docs',
        commitSha: digit.repeat(40),
        file: { name: 'index.html', mimeType: 'text/html', buffer: Buffer.from(`<h1>${digit}</h1>`) },
      },
    })
    expect(answer.status()).toBe(201)
  }

  await page.goto(`${appliance.url}/projects/${id}/retention`)
  await expect(page.getByText('Would remove nothing.')).toBeVisible()
  await page.getByLabel('Keep the newest').fill('1')
  await expect(page.getByText('Would remove 2 deployments, 20 B come back.')).toBeVisible()
  await expect(page.getByRole('link', { name: '#2', exact: true })).toBeVisible()
  await page.getByLabel('Keep for days').fill('1')
  await expect(page.getByText('Would remove nothing.')).toBeVisible()
  await page.getByLabel('Keep for days').fill('')
  await page.getByRole('button', { name: 'Save the rules' }).click()
  await expect(page.getByText('The rules were saved.')).toBeVisible()

  await page.getByRole('button', { name: 'Run now' }).click()
  await page.getByRole('button', { name: 'Remove them' }).click()
  await expect(page.getByText('The run is done.')).toBeVisible()
  await expect(page.getByText('2 deployments', { exact: true })).toBeVisible()

  await page.getByLabel('Most deployments').fill('1')
  await page.getByRole('button', { name: 'Save the quota' }).click()
  await expect(page.getByText('The quota was saved.')).toBeVisible()
  await page.goto(`${appliance.url}/admin/storage`)
  await page.getByRole('link', { name: '1 deployment' }).click()
  await expect(page.getByRole('progressbar', { name: 'Deployments' })).toBeVisible()
  await page.goto(`${appliance.url}/projects/${id}`)
  await expect(page.getByRole('heading', { name: 'Quota' })).toBeVisible()
})

test.describe('without scripts', () => {
  test.use({ javaScriptEnabled: false, env: { ...WITH_ADMIN, MIN_FREE_DISK: '1000t' } })

  test('rules are tried by a button, and a low disk is said on each page', async ({ page, appliance }) => {
    await page.goto(`${appliance.url}/projects/new`)
    await signIn(page)
    await expect(page.getByText('The disk of this server is nearly full')).toBeVisible()
    await page.goto(`${appliance.url}/projects/${await makeProject(page, appliance)}/retention`)
    await page.getByLabel('Keep the newest').fill('5')
    await page.getByRole('button', { name: 'Show what would go' }).click()
    await expect(page.getByLabel('Keep the newest')).toHaveValue('5')
    await expect(page.getByText('Would remove nothing.')).toBeVisible()
    await expect(page.getByText('The disk of this server is nearly full')).toBeVisible()
  })
})
