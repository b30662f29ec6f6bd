import { expect, siteTest as test } from './journey.ts'

/** Some keyboards send é as e and an accent: one password, one account. contract 12.7. */
const EMAIL = 'ada@b\u00fccher.example'
const NFC = 'caf\u00e9 cr\u00e8me br\u00fbl\u00e9e'
const NFD = NFC.normalize('NFD')

test.use({ env: { ADMIN_EMAIL: EMAIL, ADMIN_PASSWORD: NFC } })

test('a password typed decomposed signs in, and one chosen decomposed is good composed', async ({
  page,
  appliance,
}) => {
  const signIn = async (password: string) => {
    await page.goto(`${appliance.url}/signin`)
    await page.getByLabel('Email').fill(EMAIL)
    await page.getByLabel('Password').focus()
    await page.keyboard.insertText(password)
    expect(await page.getByLabel('Password').inputValue()).toBe(password)
    await page.keyboard.press('Enter')
    await expect(page.getByRole('heading', { name: 'Projects', level: 1 })).toBeVisible()
  }
  await signIn(NFD)

  await page.goto(`${appliance.url}/account`)
  await page.getByLabel('Current password').fill(NFC)
  await page.getByLabel('New password').fill('\u00e9'.repeat(7).normalize('NFD'))
  await page.getByRole('button', { name: 'Change password' }).click()
  await expect(page.getByLabel('New password')).toHaveAccessibleDescription(/at least 8 characters/)
  await page.getByLabel('Current password').fill(NFC)
  await page.getByLabel('New password').fill(`${NFD} again`)
  await page.getByRole('button', { name: 'Change password' }).click()
  await expect(page.getByRole('status')).toContainText('password')
  await expect(page.getByText('ada@xn--bcher-kva.example').first()).toBeVisible()

  await page.context().clearCookies()
  await signIn(`${NFC} again`)
})
