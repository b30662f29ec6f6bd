import { ADMIN, expect, signIn, test, WITH_ADMIN } from './journey.ts'

test.use({ env: WITH_ADMIN })

test('signing in leads back, signing out ends the session', async ({ page, appliance }) => {
  await page.goto(`${appliance.url}/keys`)
  await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible()

  await signIn(page, { ...ADMIN, password: 'not the password' })
  await expect(page.getByRole('alert')).toContainText('Email or password is wrong')
  await expect(page.getByLabel('Email')).toHaveValue(ADMIN.email)
  await expect(page.getByLabel('Password')).toBeFocused()

  await signIn(page)
  await expect(page).toHaveURL(`${appliance.url}/keys`)
  await expect(page.getByRole('heading', { name: 'API keys', level: 1 })).toBeVisible()

  await page.getByLabel(`Account menu of ${ADMIN.email}`).click()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await expect(page.getByRole('heading', { name: 'You are signed out' })).toBeVisible()

  await page.goto(`${appliance.url}/keys`)
  await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible()
  await page.goBack()
  await expect(page.getByRole('heading', { name: 'You are signed out' })).toBeVisible()
})

test('the keyboard is enough', async ({ page, appliance }) => {
  await page.goto(`${appliance.url}/signin`)
  await expect(page.getByLabel('Email')).toBeFocused()
  await page.keyboard.type(ADMIN.email)
  await page.keyboard.press('Tab')
  await page.keyboard.type(ADMIN.password)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: 'Projects', level: 1 })).toBeVisible()
  await page.keyboard.press('Tab')
  await expect(page.getByRole('link', { name: 'Skip to content' })).toBeFocused()
})
