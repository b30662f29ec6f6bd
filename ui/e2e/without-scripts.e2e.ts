import { ADMIN, createKey, expect, signIn, test } from './journey.ts'

test.use({ javaScriptEnabled: false })

test('every form works without scripts', async ({ page, appliance }) => {
  await page.goto(appliance.url)
  await page.getByLabel('Email').fill(ADMIN.email)
  await page.getByLabel('Password').fill('short')
  await page.getByLabel('Password').evaluate((input: HTMLInputElement) => input.removeAttribute('minlength'))
  await page.getByRole('button', { name: 'Create the admin account' }).click()
  await expect(page.getByLabel('Password')).toHaveAccessibleDescription(/8 to 256 characters/)
  await page.getByLabel('Password').fill(ADMIN.password)
  await page.getByRole('button', { name: 'Create the admin account' }).click()
  await expect(page.getByRole('heading', { name: 'Your server is ready' })).toBeVisible()

  await page.getByRole('link', { name: 'Projects' }).click()
  await page.getByLabel('Owner').fill('acme')
  await page.getByLabel('Name', { exact: true }).fill('website')
  await page.getByRole('button', { name: 'Create project' }).click()
  await expect(page.getByRole('heading', { name: 'website' })).toBeVisible()

  expect(await createKey(page, 'ci', 'acme/website')).toMatch(/^svc_/)
  await page.getByRole('button', { name: 'Revoke ci' }).click()
  await page.getByRole('button', { name: 'Revoke the key' }).click()
  await expect(page.getByRole('status')).toContainText('The key was revoked.')

  await page.getByLabel(`Account menu of ${ADMIN.email}`).click()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('link', { name: 'Sign in again' }).click()
  await signIn(page)
  await expect(page.getByRole('link', { name: 'acme/website', exact: true })).toBeVisible()
})
