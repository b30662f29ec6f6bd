import type { Locator } from '@playwright/test'
import { type Appliance, expect, scripted, signIn, test, WITH_ADMIN } from './journey.ts'

test.use({ env: WITH_ADMIN })

test('a second click on a button sends the form once', async ({ page, appliance }) => {
  await page.goto(`${appliance.url}/keys`)
  await signIn(page)
  let sent = 0
  let release = (): void => {}
  const clicked = new Promise<void>((resolve) => {
    release = resolve
  })
  await page.route('**/keys', async (route) => {
    if (route.request().method() !== 'POST') return route.continue()
    sent += 1
    await clicked
    return route.continue()
  })
  await scripted(page)
  await page.getByLabel('Name').fill('ci')
  const button = page.getByRole('button', { name: 'Create key' })
  await button.scrollIntoViewIfNeeded()
  const { x, y } = (await button.boundingBox()) ?? { x: 0, y: 0 }
  await page.mouse.click(x + 5, y + 5)
  await expect.poll(() => sent).toBe(1)
  await page.mouse.click(x + 5, y + 5)
  release()
  await expect(page.getByRole('group', { name: 'API key' }).getByRole('code')).toContainText('svc_')
  expect(sent).toBe(1)
  const keys = await (await appliance.asAdmin('GET', '/api/api-keys')).json()
  expect(keys.pagination.total).toBe(1)
})

test('after a form is refused, the first error has the focus', async ({ page, appliance }) => {
  await page.goto(`${appliance.url}/projects/new`)
  await signIn(page)
  await page.getByLabel('Owner').fill('acme')
  await page.getByLabel('Name', { exact: true }).fill('..')
  await page.getByRole('button', { name: 'Create project' }).click()
  await expect(page.getByLabel('Name', { exact: true })).toHaveAccessibleDescription(/1 to 100/)
  await expect(page.getByLabel('Name', { exact: true })).toBeFocused()
  await expect(page.getByLabel('Owner')).toHaveValue('acme')
})

test('the first error has the focus where a link led to the form, too', async ({ page, appliance }) => {
  await appliance.asAdmin('POST', '/api/projects', { owner: 'acme', name: 'website', isPublic: true })
  await page.goto(`${appliance.url}/projects/${await projectId(appliance)}/people`)
  await signIn(page)
  await scripted(page)
  await page.getByRole('link', { name: 'Invite somebody' }).click()
  await page.getByLabel('Email').fill('not an email')
  await skipChecks(page.getByRole('button', { name: 'Invite' }))
  await expect(page.getByRole('alert')).toHaveText('Check the marked fields.')
  expect(new URL(page.url()).hash).toBe('#invited')
  await expect(page.getByLabel('Email')).toBeFocused()
  await expect(page.getByLabel('Email')).toHaveValue('not an email')
})

test('a name that was typed wrongly to confirm is still there to be corrected', async ({
  page,
  appliance,
}) => {
  await appliance.asAdmin('POST', '/api/projects', { owner: 'acme', name: 'website', isPublic: true })
  await page.goto(`${appliance.url}/projects/${await projectId(appliance)}/settings`)
  await signIn(page)
  const removal = page.getByRole('region', { name: 'Delete the project' })
  await removal.getByLabel(/^Type .* to confirm$/).fill('acme/websit')
  await removal.getByRole('button', { name: 'Delete the project' }).click()
  await expect(removal.getByRole('alert')).toBeVisible()
  await expect(removal.getByLabel(/^Type .* to confirm$/)).toBeFocused()
  await expect(removal.getByLabel(/^Type .* to confirm$/)).toHaveValue('acme/websit')
})

async function projectId(appliance: Appliance): Promise<string> {
  const { projects } = await (await appliance.asAdmin('GET', '/api/projects')).json()
  return projects[0].id
}

/** Sends the form as it is, so that the server's checks are tested. */
const skipChecks = (button: Locator) =>
  button.evaluate((element: HTMLButtonElement) => {
    element.formNoValidate = true
    element.click()
  })
