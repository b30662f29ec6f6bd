import type { Page } from '@playwright/test'
import { violationsInBothThemes } from './axe.ts'
import { type Appliance, expect, openAsAdmin, siteTest, test, WITH_ADMIN } from './journey.ts'
import { pageOf, publishWebsite } from './publish-website.ts'
import { setReportState } from './report-state.ts'

test.use({ env: { ...WITH_ADMIN, RATE_LIMIT_API: '0' } })

/** One of everything that a report says, with names that would be markup. */
const BROKEN = {
  '404.html': pageOf('None'),
  'index.html': `${pageOf('Home')}<a href="/nowhere">x</a><a href="/%3Cscript%3Ealert(1)%3C/script%3E%E2%80%AE">y</a>`,
  '<script>alert(1)<b>.html': '<a href="gone.html">z</a>',
  'cod\u202Eexe.html': '<img alt="" src="missing.png">',
  id_rsa: 'no key',
  'caf.html': 'a',
  'caf/index.html': 'b',
  _redirects: '/old/* /:splat 302\n/<b>bold</b>\n/gone 410\n',
  _headers: '/*\n  X-A: b\nX-Orphan\n',
}

type Rows = { data: { id: string }[] }

async function newestOf(appliance: Appliance, projectId: string): Promise<string> {
  const answer = await appliance.asAdmin('GET', `/api/deployments?projectId=${projectId}`)
  const [newest] = ((await answer.json()) as Rows).data
  return String(newest?.id)
}

/** Until the report is made, so that it stays as a test puts it. */
async function reportMade(appliance: Appliance, deploymentId: string): Promise<void> {
  const status = async () =>
    (await (await appliance.asAdmin('GET', `/api/deployments/${deploymentId}/report`)).json()).status
  await expect.poll(status).toBe('complete')
}

/** Nothing for axe in either theme, nothing wider than a phone. */
async function expectInOrder(page: Page): Promise<void> {
  const before = page.viewportSize()
  const violations = await violationsInBothThemes(page)
  expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([])
  await page.setViewportSize({ width: 360, height: 740 })
  expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBe(0)
  if (before !== null) await page.setViewportSize(before)
}

test('a broken folder is published by the form, and what is wrong is told where the publish ends', async ({
  page,
  appliance,
  folder,
}) => {
  const project = { owner: 'acme', name: 'website', isPublic: true }
  const { id } = await (await appliance.asAdmin('POST', '/api/projects', project)).json()
  await openAsAdmin(page, appliance, `/projects/${id}/publish`)
  await expect(page.getByText('Drop a folder, files or a zip here')).toBeVisible()
  await page.getByLabel('Choose a folder').setInputFiles(folder(BROKEN))
  await page.getByRole('button', { name: 'Publish' }).click()

  await expect(page.getByRole('heading', { name: 'Published', level: 2 })).toBeVisible()
  await expect(page.getByText('These lines do nothing:')).toBeVisible()
  await page.getByRole('link', { name: '#1', exact: true }).click()
  const refused = page.getByRole('list', { name: 'Refused lines' })
  await expect(refused).toContainText('_redirects:2')
  await expect(refused).toContainText('_headers:3')
  await expect(page.getByRole('heading', { name: 'Deploy report' })).toBeVisible()
  await expectInOrder(page)
  await reportMade(appliance, await newestOf(appliance, id))
  await page.reload()
  await expect(page.getByRole('heading', { name: /^Deploy report: \d+ errors, \d+ warnings/ })).toBeVisible()

  await page.getByRole('link', { name: 'Read the report' }).focus()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: 'Deploy report', level: 1 })).toBeVisible()
  const errors = page.getByRole('table', { name: 'Errors' })
  for (const [where, kind] of [
    ['_redirects:2', 'redirect-refused'],
    ['_headers:3', 'header-refused'],
    ['id_rsa', 'secret-published'],
  ] as const)
    await expect(errors.getByRole('row').filter({ hasText: where })).toContainText(kind)
  const warnings = page.getByRole('table', { name: 'Warnings' })
  await expect(warnings).toContainText('/nowhere')
  await expect(warnings.getByRole('rowheader', { name: '<script>alert(1)<b>.html' })).toBeVisible()
  await expect(warnings).toContainText('asset-missing')
  await expect(page.getByRole('table', { name: 'Good to know' })).toContainText('address-clash')
  const redirects = page.getByRole('table', { name: 'Redirects in force' })
  await expect(redirects.getByRole('row').filter({ hasText: '/old/*' })).toContainText('302')
  await expect(redirects.getByRole('row').filter({ hasText: '/gone' })).toContainText(
    'the page of the service',
  )
  await expect(page.getByRole('table', { name: 'Headers in force' })).toContainText('x-a: b')
  await expect(page.locator('main script, main b')).toHaveCount(0)
  await expectInOrder(page)
})

test('while the report is made the page looks again by itself; one that failed says what to do', async ({
  page,
  appliance,
}) => {
  const id = await publishWebsite(appliance, BROKEN)
  const deployment = await newestOf(appliance, id)
  await reportMade(appliance, deployment)
  setReportState(appliance, deployment, 'running')
  await openAsAdmin(page, appliance, `/projects/${id}/deployments/${deployment}/report`)
  await expect(page.getByRole('status').filter({ hasText: 'The pages are still being read.' })).toBeVisible()
  await expectInOrder(page)
  setReportState(appliance, deployment, 'complete')
  await expect(page.getByText('The pages are still being read.')).toHaveCount(0)
  await expect(page.getByRole('table', { name: 'Errors' })).toBeVisible()

  setReportState(appliance, deployment, 'failed')
  await page.reload()
  await expect(page.getByText('The report could not be made.')).toBeVisible()
  await expectInOrder(page)
  setReportState(appliance, deployment, 'none')
  await page.reload()
  await expect(page.getByText('Publish it again to get one.')).toBeVisible()
  await expectInOrder(page)
})

test.describe('without scripts', () => {
  test.use({ javaScriptEnabled: false })

  test('a link looks again', async ({ page, appliance }) => {
    const id = await publishWebsite(appliance, BROKEN)
    const deployment = await newestOf(appliance, id)
    await reportMade(appliance, deployment)
    setReportState(appliance, deployment, 'running')
    await openAsAdmin(page, appliance, `/projects/${id}/deployments/${deployment}/report`)
    await page.getByRole('link', { name: 'Look again' }).click()
    await expect(page.getByText('The pages are still being read.')).toBeVisible()
    setReportState(appliance, deployment, 'complete')
    await page.getByRole('link', { name: 'Look again' }).click()
    await expect(page.getByRole('table', { name: 'Errors' })).toBeVisible()
    await expect(page.getByRole('table', { name: 'Redirects in force' })).toBeVisible()
  })
})

test('a viewer of the project sees the report, a stranger does not', async ({ page, browser, appliance }) => {
  await appliance.asAdmin('PATCH', '/api/settings', { allowPublicSignups: true })
  const id = await publishWebsite(appliance, BROKEN)
  const deployment = await newestOf(appliance, id)
  await reportMade(appliance, deployment)
  const path = `${appliance.url}/projects/${id}/deployments/${deployment}/report`
  const headers = { origin: appliance.url }
  for (const isViewer of [true, false]) {
    const who = {
      email: isViewer ? 'vera@example.com' : 'eve@example.com',
      password: 'correct horse battery',
    }
    const visitor = isViewer ? page.context() : await browser.newContext()
    const signedUp = await visitor.request.post(`${appliance.url}/api/auth/signup`, { data: who, headers })
    expect(signedUp.ok()).toBe(true)
    if (isViewer) {
      const { user } = (await signedUp.json()) as { user: { id: string } }
      const grant = { userId: user.id, role: 'viewer' }
      await appliance.asAdmin('POST', `/api/projects/${id}/permissions/users`, grant)
    }
    const tab = isViewer ? page : await visitor.newPage()
    const answer = await tab.goto(path)
    expect(answer?.status()).toBe(isViewer ? 200 : 404)
    await expect(tab.getByText('secret-published')).toHaveCount(isViewer ? 1 : 0)
    if (!isViewer) await visitor.close()
  }
})

siteTest.use({ env: { ...WITH_ADMIN, RATE_LIMIT_API: '0' } })

siteTest(
  'a 301 that the next deploy changes is followed to its new place at once',
  async ({ page, appliance, folder }) => {
    const files = { 'first.html': pageOf('First'), 'second.html': pageOf('Second') }
    const id = await publishWebsite(appliance, { ...files, _redirects: '/old /first\n' })
    const site = `http://production--website--acme.localhost:${appliance.port}`
    await page.goto(`${site}/old`)
    await expect(page.getByRole('heading', { name: 'First' })).toBeVisible()

    const { key } = await (
      await appliance.asAdmin('POST', '/api/api-keys', { name: 'b', projectId: id })
    ).json()
    const where = ['--api-url', appliance.url, '--project', 'acme/website', '--alias', 'production']
    const next = folder({ ...files, _redirects: '/old /second\n' })
    const { exitCode } = await appliance.svc(['deploy', next, ...where, '--sha', 'bbbbbbbbbbbbbbbb'], {
      SVC_API_KEY: key,
    })
    expect(exitCode).toBe(0)
    await page.goto(`${site}/old`)
    await expect(page.getByRole('heading', { name: 'Second' })).toBeVisible()
  },
)
