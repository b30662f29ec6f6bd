import { type MailServer, mailServer } from '../../src/testing/mail-server.ts'
import { ADMIN, test as base, expect, signIn, WITH_ADMIN } from './journey.ts'

/** A server that sends its mails to one that stores them. */
const test = base.extend<{ smtp: MailServer }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the wanted fixtures from this pattern
  smtp: async ({}, use) => {
    const smtp = await mailServer()
    await use(smtp)
    await smtp.close()
  },
  env: async ({ smtp }, use) => use({ ...WITH_ADMIN, SMTP_URL: smtp.url }),
})

test('notices are switched, health is looked at, and a test mail arrives', async ({
  page,
  appliance,
  smtp,
}) => {
  await page.goto(`${appliance.url}/account`)
  await signIn(page)
  const notices = page.getByRole('region', { name: 'Mail notices' })
  await expect(notices.getByLabel('Failed backups')).toBeChecked()
  await notices.getByLabel('Failed backups').uncheck()
  await notices.getByRole('button', { name: 'Save notices' }).click()
  await expect(page.getByText('Your notices were saved.')).toBeVisible()
  await expect(notices.getByLabel('Failed backups')).not.toBeChecked()
  await expect(notices.getByLabel('New sign-ins')).toBeChecked()

  await page.getByRole('link', { name: 'Health' }).click()
  await expect(page.getByRole('row', { name: /^Mail OK/ })).toBeVisible()
  await expect(page.getByRole('row', { name: /^Backup Off/ })).toBeVisible()
  await page.getByLabel('To').fill('ops@example.com')
  await page.getByRole('button', { name: 'Send a test mail' }).click()
  await expect(page.getByText('The mail server took the test mail.')).toBeVisible()
  expect((await smtp.next()).to).toEqual(['ops@example.com'])
})

test('another browser is told of, the same one is not; an invitation is mailed', async ({
  page,
  browser,
  appliance,
  smtp,
}) => {
  await page.goto(`${appliance.url}/account`)
  await signIn(page)
  await page.getByRole('main').getByRole('button', { name: 'Sign out' }).click()
  await expect(page.getByText('signed out')).toBeVisible()
  await page.goto(`${appliance.url}/admin/users`)
  await signIn(page)
  await page.getByLabel('Email', { exact: true }).fill('grace@example.com')
  await page.getByRole('button', { name: 'Create' }).click()
  await expect(page.getByText('A mail with the link is on its way.')).toBeVisible()
  const invitation = await smtp.next()
  expect(invitation.to).toEqual(['grace@example.com'])
  expect(invitation.text).toContain('/reset-password?token=')

  const other = await browser.newContext()
  const elsewhere = await other.newPage()
  await elsewhere.goto(`${appliance.url}/account`)
  await signIn(elsewhere)
  const told = await smtp.next()
  expect(told.to).toEqual([ADMIN.email])
  expect(told.text).toContain(`${appliance.url}/account#sessions`)
  await other.close()
})
