import type { Locator, Page } from '@playwright/test'
import { createKey, expect, signIn, test, WITH_ADMIN } from './journey.ts'

test.use({ env: WITH_ADMIN })

const HELLO = '<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>Hi</title><h1>Hello</h1>'

/** A zip of one stored file, `index.html`, which holds `hi`. */
const ZIP = Buffer.from(
  'UEsDBAoAAAAAAAAAIQCsKpPYAgAAAAIAAAAKAAAAaW5kZXguaHRtbGhpUEsBAhQACgAAAAAAAAAhAKwqk9gCAAAAAgAAAAoAAAAAAAAAAAAAAAAAAAAAAGluZGV4Lmh0bWxQSwUGAAAAAAEAAQA4AAAAKgAAAAAA',
  'base64',
)

/** Where files are dropped: shown by the script, which then takes files that are chosen too. */
async function dropPlace(page: Page): Promise<Locator> {
  const place = page.getByText('Drop a folder, files or a zip here')
  await expect(place).toBeVisible()
  return place
}

test('a folder that is chosen in the browser is live a moment later', async ({ page, appliance, folder }) => {
  await appliance.asAdmin('POST', '/api/projects', { owner: 'acme', name: 'website', isPublic: true })
  await page.goto(appliance.url)
  await signIn(page)
  await page.getByRole('link', { name: 'website', exact: true }).click()
  await expect(page.getByText('Waiting for the first deployment.')).toBeVisible()

  const site = folder({ 'index.html': HELLO, 'assets/a.css': 'a{}', '.env': 'SECRET=1' })
  await dropPlace(page)
  await page.getByLabel('Choose a folder').setInputFiles(site)
  await expect(page.getByRole('status').filter({ hasText: '2 files' })).toBeVisible()
  await page.getByLabel('What is new').fill('The very first')
  await page.getByRole('button', { name: 'Publish' }).click()

  await expect(page.getByRole('status').filter({ hasText: 'Published.' })).toBeVisible()
  await expect(page.getByText('The very first')).toBeVisible()
  await page.getByRole('link', { name: 'Files' }).click()
  await page.getByRole('link', { name: 'assets/' }).click()
  await expect(page.getByRole('link', { name: 'a.css' })).toBeVisible()
  await expect(page.getByText('.env')).toHaveCount(0)

  await page.goto(`http://production--website--acme.localhost:${appliance.port}/`)
  await expect(page.getByRole('heading', { name: 'Hello' })).toBeVisible()
})

test('dropping files publishes them too', async ({ page, appliance }) => {
  await appliance.asAdmin('POST', '/api/projects', { owner: 'acme', name: 'website' })
  await page.goto(appliance.url)
  await signIn(page)
  await page.getByRole('link', { name: 'website', exact: true }).click()
  const place = await dropPlace(page)
  const dropped = await page.evaluateHandle((html) => {
    const transfer = new DataTransfer()
    transfer.items.add(new File([html], 'index.html', { type: 'text/html' }))
    return transfer
  }, HELLO)
  await place.dispatchEvent('drop', { dataTransfer: dropped })
  await expect(page.getByRole('status').filter({ hasText: 'index.html' })).toBeVisible()
  await page.getByRole('button', { name: 'Publish' }).click()
  await expect(page.getByRole('status').filter({ hasText: 'Published.' })).toBeVisible()
})

test('a dropped folder that cannot be read is said to be so', async ({ page, appliance }) => {
  await appliance.asAdmin('POST', '/api/projects', { owner: 'acme', name: 'website' })
  await page.goto(appliance.url)
  await signIn(page)
  await page.getByRole('link', { name: 'website', exact: true }).click()
  const place = await dropPlace(page)
  const dropped = await page.evaluateHandle(() => {
    const readEntries = (_done: unknown, fail: (error: Error) => void) => fail(new Error('gone'))
    const entry = { isDirectory: true, name: 'site', createReader: () => ({ readEntries }) }
    Object.assign(DataTransferItem.prototype, { webkitGetAsEntry: () => entry })
    const transfer = new DataTransfer()
    transfer.items.add(new File(['x'], 'site'))
    return transfer
  })
  await place.dispatchEvent('drop', { dataTransfer: dropped })
  await expect(page.getByRole('alert')).toContainText('What was dropped could not be read.')
})

test('the page shows the first deployment when it arrives from elsewhere', async ({
  page,
  appliance,
  folder,
}) => {
  await appliance.asAdmin('POST', '/api/projects', { owner: 'acme', name: 'website' })
  await page.goto(appliance.url)
  await signIn(page)
  const key = await createKey(page, 'laptop', 'acme/website')
  await page.getByRole('link', { name: 'Projects' }).first().click()
  await page.getByRole('link', { name: 'website', exact: true }).click()
  await expect(page.getByText('Waiting for the first deployment.')).toBeVisible()

  await appliance.svc(
    ['deploy', folder({ 'index.html': HELLO }), '--api-url', appliance.url, '--project', 'acme/website'],
    { SVC_API_KEY: key },
  )
  await expect(page.getByRole('status').filter({ hasText: 'Published.' })).toBeVisible()
  await expect(page.getByRole('heading', { name: 'Latest deployments' })).toBeVisible()
})

test('the server’s refusal is shown in place', async ({ page, appliance }) => {
  await appliance.asAdmin('POST', '/api/projects', { owner: 'acme', name: 'website' })
  await page.goto(appliance.url)
  await signIn(page)
  await page.getByRole('link', { name: 'website', exact: true }).click()
  await dropPlace(page)
  await page
    .getByLabel('Zip archive of the site')
    .setInputFiles({ name: 'index.html', mimeType: 'text/html', buffer: Buffer.from(HELLO) })
  await page.getByLabel('Alias to point at it').fill('no spaces please')
  // Browsers report an answer of 400 as an error by themselves; the page is what matters here.
  await page.route('**/api/deployments', (route) =>
    route.fulfill({ status: 200, json: { message: 'alias: only letters, digits, hyphens' } }),
  )
  await page.getByRole('button', { name: 'Publish' }).click()
  await expect(page.getByRole('alert')).toContainText('alias: only letters')
  await expect(page.getByRole('button', { name: 'Publish' })).toBeEnabled()
})

for (const javaScriptEnabled of [true, false])
  test.describe(javaScriptEnabled ? 'with scripts' : 'without scripts', () => {
    test.use({ javaScriptEnabled })

    test('a zip is published', async ({ page, appliance }) => {
      await appliance.asAdmin('POST', '/api/projects', { owner: 'acme', name: 'website' })
      await page.goto(appliance.url)
      await signIn(page)
      await page.getByRole('link', { name: 'website', exact: true }).click()
      await page
        .getByLabel('Zip archive of the site')
        .setInputFiles({ name: 'site.zip', mimeType: 'application/zip', buffer: ZIP })
      await page.getByRole('button', { name: 'Publish' }).click()
      await expect(page.getByRole('status').filter({ hasText: 'Published.' })).toBeVisible()
      await page.getByRole('link', { name: 'Files' }).click()
      await page.getByRole('link', { name: 'index.html' }).click()
      await expect(page.getByRole('group', { name: 'Content' })).toHaveText('hi')
    })
  })
