import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from '@playwright/test'
import { zip } from '../../src/platform/archive/zip.fixture.ts'
import { drop } from './drop.ts'
import { type Appliance, expect, scripted, signIn, test, WITH_ADMIN } from './journey.ts'

/** contract 12.9: what was dropped shows at once, what is unclear is asked before anything goes live. */

test.use({ env: WITH_ADMIN })

const HELLO = '<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>Hi</title><h1>Hello</h1>'

async function openPublish(page: Page, appliance: Appliance): Promise<void> {
  const site = { owner: 'acme', name: 'website', isPublic: true }
  const { id } = await (await appliance.asAdmin('POST', '/api/projects', site)).json()
  await page.goto(`${appliance.url}/projects/${id}/publish`)
  await signIn(page)
  await scripted(page)
}

const status = (page: Page, text: string) => page.getByRole('status').filter({ hasText: text })
const ready = (page: Page) => page.getByRole('region', { name: 'Ready to publish' })
const published = (page: Page) => page.getByRole('heading', { name: 'Published', level: 2 })
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const deployments = async (appliance: Appliance): Promise<number> =>
  (await (await appliance.asAdmin('GET', '/api/deployments')).json()).pagination.total

async function publishNow(page: Page): Promise<void> {
  await button(page, 'Publish').click()
  await expect(published(page)).toBeVisible()
}

async function expectLive(page: Page, { port }: Appliance, path = '/'): Promise<void> {
  await page.goto(`http://production--website--acme.localhost:${port}${path}`)
  await expect(page.getByRole('heading', { name: 'Hello' })).toBeVisible()
}

test('a dropped zip with a folder inside is published without it, and it is said', async ({
  page,
  appliance,
  folder,
}) => {
  await openPublish(page, appliance)
  const root = folder({})
  const files = {
    'site/index.html': HELLO,
    'site/a.css': 'a{}',
    '__MACOSX/site/._a': 'x',
    'site/.DS_Store': 'x',
  }
  writeFileSync(join(root, 'website.zip'), zip(files))
  await drop(page, join(root, 'website.zip'))
  await expect(ready(page)).toContainText('website.zip · 2 files · ')
  await expect(ready(page)).toContainText('in the folder site/, which is taken away')
  await expect(ready(page)).toContainText('production is new.')
  await expect(page.getByText('Drop a folder, files or a zip here')).toBeHidden()
  await page.getByLabel('Alias').fill('next')
  await expect(ready(page)).toContainText('next is new.')
  await page.getByLabel('Alias').fill('production')
  await expect(button(page, 'Cancel')).toBeVisible()
  await button(page, 'Publish').click()
  await expect(published(page)).toBeVisible()
  await page.getByRole('link', { name: '#1', exact: true }).click()
  await page.getByRole('link', { name: 'Files' }).click()
  await expect(page.getByRole('link', { name: 'index.html' })).toBeVisible()
  await expectLive(page, appliance)
})

test('without scripts such a zip is published without the folder, too', async ({ browser, appliance }) => {
  const context = await browser.newContext({ javaScriptEnabled: false })
  const page = await context.newPage()
  await appliance.asAdmin('POST', '/api/projects', { owner: 'acme', name: 'website', isPublic: true })
  await page.goto(appliance.url)
  await signIn(page)
  await page.getByRole('link', { name: 'acme/website', exact: true }).click()
  const buffer = Buffer.from(zip({ 'site/index.html': HELLO }))
  await page
    .getByLabel('Choose a zip')
    .setInputFiles({ name: 'site.zip', mimeType: 'application/zip', buffer })
  await button(page, 'Publish').click()
  await expect(published(page)).toBeVisible()
  await expectLive(page, appliance)
  await context.close()
})

test('a dropped folder with only dist/ is asked about before anything goes live', async ({
  page,
  appliance,
  folder,
}) => {
  await openPublish(page, appliance)
  const root = folder({
    'app/dist/index.html': HELLO,
    'app/dist/a.css': 'a{}',
    'app/node_modules/x/index.html': 'x',
  })
  await drop(page, join(root, 'app'))
  await expect(ready(page)).toContainText('app · 2 files · ')
  const question = page.getByRole('group', { name: 'Which folder is the site?' })
  await expect(question.getByRole('radio', { checked: true })).toHaveCount(0)
  await expect(button(page, 'Publish')).toBeDisabled()
  await question.getByRole('radio', { name: 'dist/', exact: true }).check()
  expect(await deployments(appliance)).toBe(0)
  await publishNow(page)
  await page.getByRole('link', { name: '#1', exact: true }).click()
  await page.getByRole('link', { name: 'Files' }).click()
  await expect(page.getByRole('link', { name: 'a.css' })).toBeVisible()
  await expectLive(page, appliance)
})

test('everything may be published as it is all the same', async ({ page, appliance, folder }) => {
  await openPublish(page, appliance)
  await page
    .getByLabel('Choose a folder')
    .setInputFiles(folder({ 'dist/index.html': HELLO, 'src/a.ts': 'a' }))
  await page.getByRole('radio', { name: 'Everything as it is' }).check()
  await publishNow(page)
  await expectLive(page, appliance, '/dist/')
})

test('a zip whose start page lies deeper is asked about, and served from there', async ({
  page,
  appliance,
  folder,
}) => {
  await openPublish(page, appliance)
  const root = folder({})
  const files = { 'app/docs/index.html': 'docs', 'app/dist/index.html': HELLO, 'app/README.md': 'read' }
  writeFileSync(join(root, 'app.zip'), zip(files))
  await drop(page, join(root, 'app.zip'))
  await expect(page.getByRole('radio')).toHaveCount(3)
  await page.getByRole('radio', { name: 'app/dist/', exact: true }).check()
  expect(await deployments(appliance)).toBe(0)
  await publishNow(page)
  await expectLive(page, appliance)
})

test('a folder that is named is not asked about', async ({ page, appliance, folder }) => {
  await openPublish(page, appliance)
  await page.getByText('More', { exact: true }).click()
  await page.getByLabel('Folder with the site').fill('/dist')
  await drop(page, folder({ 'dist/index.html': HELLO, 'src/a.ts': 'a' }))
  await publishNow(page)
  await expectLive(page, appliance)
})

test('what has no start page is asked about where the alias shows one', async ({
  page,
  appliance,
  folder,
}) => {
  await openPublish(page, appliance)
  const publishPage = page.url()
  const root = folder({ 'photos/1.jpg': 'x', 'site/index.html': HELLO })
  await drop(page, join(root, 'photos'))
  await publishNow(page)
  await page.goto(publishPage)
  await drop(page, join(root, 'site'))
  await publishNow(page)
  await page.goto(publishPage)
  await drop(page, join(root, 'photos'))
  await expect(ready(page)).toContainText('production shows #2: 1 new path, 1 gone')
  await expect(button(page, 'Publish')).toBeDisabled()
  await page.getByLabel('Alias').fill('other')
  await expect(button(page, 'Publish')).toBeEnabled()
  await page.getByLabel('Alias').fill('Production')
  await page.getByRole('checkbox', { name: 'Publish without a start page' }).check()
  expect(await deployments(appliance)).toBe(2)
  await publishNow(page)
  expect(await deployments(appliance)).toBe(3)
})

test('an empty folder says so, and so does one of which all is left out', async ({
  page,
  appliance,
  folder,
}) => {
  await openPublish(page, appliance)
  const root = folder({ 'hidden/.env': 'SECRET=1', 'hidden/node_modules/a/b.js': 'x' })
  mkdirSync(join(root, 'nothing/deeper'), { recursive: true })
  await drop(page, join(root, 'nothing'))
  await expect(status(page, 'nothing holds no files.')).toBeVisible()
  await expect(page.getByText('Drop a folder, files or a zip here')).toBeVisible()
  await drop(page, join(root, 'hidden'))
  await expect(status(page, 'hidden holds no files to publish. Names that begin with a dot')).toBeVisible()
  await expect(button(page, 'Cancel')).toBeHidden()
  expect(await deployments(appliance)).toBe(0)
})

/** Reading folders waits until `go` is called. */
async function holdReading(page: Page): Promise<() => Promise<void>> {
  const hold = await page.evaluateHandle(() => {
    const { webkitGetAsEntry } = DataTransferItem.prototype
    let go = () => {}
    const held = new Promise<void>((done) => {
      go = done
    })
    DataTransferItem.prototype.webkitGetAsEntry = function () {
      const entry = webkitGetAsEntry.call(this)
      const folder = entry as FileSystemDirectoryEntry
      const reader = folder.createReader()
      const readEntries = reader.readEntries.bind(reader)
      reader.readEntries = (...given) => void held.then(() => readEntries(...given))
      folder.createReader = () => reader
      return entry
    }
    return { go }
  })
  return () => hold.evaluate(({ go }) => go())
}

test('a click while it is still being read counts', async ({ page, appliance, folder }) => {
  await openPublish(page, appliance)
  const go = await holdReading(page)
  await drop(page, folder({ 'index.html': HELLO }))
  await expect(status(page, ': reading')).toBeVisible()
  await button(page, 'Publish').click()
  await expect(status(page, 'reading, and published as soon as it is read')).toBeVisible()
  expect(await deployments(appliance)).toBe(0)
  await go()
  await expect(published(page)).toBeVisible()
  await expectLive(page, appliance)
})

test('a click while it is read skips no question, and Cancel stops it', async ({
  page,
  appliance,
  folder,
}) => {
  await openPublish(page, appliance)
  const go = await holdReading(page)
  const root = folder({ 'app/dist/index.html': HELLO, 'site/index.html': HELLO })
  await drop(page, join(root, 'site'))
  await button(page, 'Publish').click()
  await button(page, 'Cancel').click()
  await expect(page.getByText('Drop a folder, files or a zip here')).toBeVisible()
  await drop(page, join(root, 'app'))
  await button(page, 'Publish').click()
  await go()
  await expect(page.getByRole('group', { name: 'Which folder is the site?' })).toBeVisible()
  expect(await deployments(appliance)).toBe(0)
})

test('a refused upload stays, to be sent again or dropped', async ({ page, appliance, folder }) => {
  await openPublish(page, appliance)
  const root = folder({})
  writeFileSync(join(root, 'site.tar.gz'), 'whatever')
  writeFileSync(join(root, 'site.zip'), 'no zip')
  await drop(page, join(root, 'site.zip'))
  await page.route('**/api/deployments/zip', (route) =>
    route.fulfill({ status: 200, json: { message: 'This is not a zip archive' } }),
  )
  await button(page, 'Publish').click()
  await expect(page.getByRole('alert')).toContainText('This is not a zip archive')
  await expect(button(page, 'Publish')).toBeEnabled()
  await button(page, 'Cancel').click()
  await drop(page, join(root, 'site.tar.gz'))
  await page.getByRole('checkbox', { name: 'only a zip is unpacked here' }).check()
  await publishNow(page)
})

test('cancelling in the middle keeps nothing, and what was chosen is still there', async ({
  page,
  appliance,
  folder,
}) => {
  await openPublish(page, appliance)
  // The upload hangs until it is cancelled.
  await page.route('**/api/deployments', () => {})
  await drop(page, folder({ 'index.html': HELLO }))
  await button(page, 'Publish').click()
  await expect(page.getByRole('progressbar', { name: 'Sending' })).toBeVisible()
  await button(page, 'Cancel').click()
  await expect(status(page, 'Cancelled: nothing was published.')).toBeVisible()
  await expect(ready(page)).toContainText(' · 1 file · ')
  expect(await deployments(appliance)).toBe(0)
  await page.unroute('**/api/deployments')
  await publishNow(page)
  await expect(page.getByRole('link', { name: /production--website--acme/ })).toBeVisible()
  await page.getByRole('link', { name: 'Open the site' }).click()
  await expect(page.getByRole('heading', { name: 'Hello' })).toBeVisible()
})
