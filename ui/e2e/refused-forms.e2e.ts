import { expect, scripted, signIn, test, WITH_ADMIN } from './journey.ts'

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
  await page.getByLabel('Repository').fill('..')
  await page.getByRole('button', { name: 'Create project' }).click()
  await expect(page.getByLabel('Repository')).toHaveAccessibleDescription(/1 to 100/)
  await expect(page.getByLabel('Repository')).toBeFocused()
  await expect(page.getByLabel('Owner')).toHaveValue('acme')
})
