import type { Locator, Page } from '@playwright/test'
import { createKey, expect, signIn, test, WITH_ADMIN } from './journey.ts'

test.use({ env: WITH_ADMIN })

const HELLO = '<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>Hi</title><h1>Hello</h1>'

/** A zip of one stored file, `index.html`, which holds `hi`. */
const ZIP = Buffer.from(
  'UEsDBAoAAAAAAAAAIQCsKpPYAgAAAAIAAAAKAAAAaW5kZXguaHRtbGhpUEsBAhQACgAAAAAAAAAhAKwqk9gCAAAAAgAAAAoAAAAAAAAAAAAAAAAAAAAAAGluZGV4Lmh0bWxQSwUGAAAAAAEAAQA4AAAAKgAAAAAA',
  'base64',
)

/** The same without a start page. */
const PHOTO_ZIP = Buffer.from(ZIP.toString('latin1').replaceAll('index.html', 'photo1.jpg'), 'latin1')

const published = (page: Page) => page.getByRole('heading', { name: 'Published', level: 2 })

/** The drop zone. The script shows it and from then on also handles chosen files. */
async function dropPlace(page: Page): Promise<Locator> {
  const place = page.getByText('Drop a folder, files or a zip here')
  await expect(place).toBeVisible()
  return place
}

test('a folder chosen in the browser is live a moment later', async ({ page, appliance, folder }) => {
  await appliance.asAdmin('POST', '/api/projects', { owner: 'acme', name: 'website', isPublic: true })
  await page.goto(appliance.url)
  await signIn(page)
  await page.getByRole('link', { name: 'acme/website', exact: true }).click()
  await expect(page.getByText('Waiting for the first deployment.')).toBeVisible()

  const site = folder({ 'index.html': HELLO, 'assets/a.css': 'a{}', '.env': 'SECRET=1' })
  await dropPlace(page)
  await page.getByLabel('Choose a folder').setInputFiles(site)
  await expect(page.getByRole('region', { name: 'Ready to publish' })).toContainText(' · 2 files · ')
  await page.getByLabel('Description').fill('The very first')
  await page.getByRole('button', { name: 'Publish' }).click()

  await expect(published(page)).toBeFocused()
  await page.getByRole('link', { name: '#1 The very first' }).click()
  await page.getByRole('link', { name: 'Files' }).click()
  await page.getByRole('link', { name: 'assets/' }).click()
  await expect(page.getByRole('link', { name: 'a.css' })).toBeVisible()
  await expect(page.getByText('.env')).toHaveCount(0)

  await page.goto(`http://production--website--acme.localhost:${appliance.port}/`)
  await expect(page.getByRole('heading', { name: 'Hello' })).toBeVisible()
})

test('dropped files are published too', async ({ page, appliance }) => {
  await appliance.asAdmin('POST', '/api/projects', { owner: 'acme', name: 'website' })
  await page.goto(appliance.url)
  await signIn(page)
  await page.getByRole('link', { name: 'acme/website', exact: true }).click()
  const place = await dropPlace(page)
  const dropped = await page.evaluateHandle((html) => {
    const transfer = new DataTransfer()
    transfer.items.add(new File([html], 'index.html', { type: 'text/html' }))
    return transfer
  }, HELLO)
  await place.dispatchEvent('drop', { dataTransfer: dropped })
  await expect(page.getByRole('region', { name: 'Ready to publish' })).toContainText('index.html · 1 file')
  await page.getByRole('button', { name: 'Publish' }).click()
  await expect(published(page)).toBeVisible()
})

test('a dropped folder that cannot be read is reported', async ({ page, appliance }) => {
  await appliance.asAdmin('POST', '/api/projects', { owner: 'acme', name: 'website' })
  await page.goto(appliance.url)
  await signIn(page)
  await page.getByRole('link', { name: 'acme/website', exact: true }).click()
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
  await expect(page.getByRole('alert')).toContainText('The dropped files could not be read.')
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
  await page.getByRole('link', { name: 'acme/website', exact: true }).click()
  await expect(page.getByText('Waiting for the first deployment.')).toBeVisible()

  await appliance.svc(
    ['deploy', folder({ 'index.html': HELLO }), '--api-url', appliance.url, '--project', 'acme/website'],
    { SVC_API_KEY: key },
  )
  await expect(page.getByRole('status').filter({ hasText: 'Published.' })).toBeVisible()
  await expect(page.getByRole('heading', { name: 'Latest deployments' })).toBeVisible()
})

test.describe('with a limit of one file', () => {
  test.use({ env: { ...WITH_ADMIN, MAX_DEPLOYMENT_FILES: '1' } })

  test('choosing more files says how many a deployment may have', async ({ page, appliance, folder }) => {
    await appliance.asAdmin('POST', '/api/projects', { owner: 'acme', name: 'website' })
    await page.goto(appliance.url)
    await signIn(page)
    await page.getByRole('link', { name: 'acme/website', exact: true }).click()
    await dropPlace(page)
    await page.getByLabel('Choose a folder').setInputFiles(folder({ 'index.html': HELLO, 'a.css': 'a{}' }))
    await expect(page.getByRole('alert')).toContainText('Too many files: a deployment may have 1.')
  })
})

test('the server’s refusal is shown in place', async ({ page, appliance }) => {
  await appliance.asAdmin('POST', '/api/projects', { owner: 'acme', name: 'website' })
  await page.goto(appliance.url)
  await signIn(page)
  await page.getByRole('link', { name: 'acme/website', exact: true }).click()
  await dropPlace(page)
  await page
    .getByLabel('Choose a zip')
    .setInputFiles({ name: 'index.html', mimeType: 'text/html', buffer: Buffer.from(HELLO) })
  await page.getByLabel('Alias').fill('no spaces please')
  // Browsers report a 400 response as an error themselves. Only the page matters here.
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
      await page.getByRole('link', { name: 'acme/website', exact: true }).click()
      await page
        .getByLabel('Choose a zip')
        .setInputFiles({ name: 'site.zip', mimeType: 'application/zip', buffer: ZIP })
      await page.getByRole('button', { name: 'Publish' }).click()
      await expect(published(page)).toBeVisible()
      await page.getByRole('link', { name: '#1', exact: true }).click()
      await page.getByRole('link', { name: 'Files' }).click()
      await page.getByRole('link', { name: 'index.html' }).click()
      await expect(page.getByRole('group', { name: 'Content' })).toHaveText('hi')
    })

    test('a photo that took the place of the site is rolled back with one click', async ({
      page,
      appliance,
    }) => {
      const site = { owner: 'acme', name: 'website', isPublic: true }
      const { id } = await (await appliance.asAdmin('POST', '/api/projects', site)).json()
      for (const buffer of [ZIP, PHOTO_ZIP]) {
        await page.goto(`${appliance.url}/projects/${id}/publish`)
        if (buffer === ZIP) await signIn(page)
        await page
          .getByLabel('Choose a zip')
          .setInputFiles({ name: 'site.zip', mimeType: 'application/zip', buffer })
        if (buffer === PHOTO_ZIP && javaScriptEnabled)
          await page.getByRole('checkbox', { name: 'Publish without a start page' }).check()
        await page.getByRole('button', { name: 'Publish' }).click()
        await expect(published(page)).toBeVisible()
      }
      await page.getByRole('link', { name: '#2', exact: true }).click()
      if (!javaScriptEnabled) await page.getByRole('button', { name: 'Publish without a start page' }).click()
      await expect(page.getByText('Before, production showed the site')).toBeVisible()
      await page.getByRole('button', { name: 'Roll production back to' }).press('Enter')
      await expect(page.getByRole('status').filter({ hasText: 'The alias was moved.' })).toBeVisible()

      // Browsers ask for it by themselves, and the site has none.
      await page.route('**/favicon.ico', (route) => route.fulfill({ status: 204 }))
      await page.goto(`http://production--website--acme.localhost:${appliance.port}/`)
      await expect(page.getByText('hi', { exact: true })).toBeVisible()
    })
  })
