import { createKey, expect, signIn, test, WITH_ADMIN } from './journey.ts'

test.use({ env: WITH_ADMIN })

test('a key is shown once, works, and is revoked after a confirmation', async ({ page, appliance }) => {
  await page.goto(`${appliance.url}/keys`)
  await signIn(page)
  const key = await createKey(page, 'ci', 'All projects')
  const status = async () =>
    (await fetch(`${appliance.url}/api/projects`, { headers: { 'x-api-key': key } })).status
  expect(await status()).toBe(200)

  await page.getByRole('link', { name: 'API keys' }).click()
  await expect(page.getByText(key)).toHaveCount(0)
  const row = page.getByRole('row').filter({ hasText: 'ci' })
  await expect(row).toContainText('All projects')

  await row.getByRole('button', { name: 'Revoke ci' }).click()
  const question = page.getByRole('dialog', { name: 'Revoke ci?' })
  await expect(question).toBeVisible()
  await question.getByRole('button', { name: 'Cancel' }).click()
  await expect(question).toBeHidden()
  expect(await status()).toBe(200)

  await row.getByRole('button', { name: 'Revoke ci' }).click()
  await question.getByRole('button', { name: 'Revoke the key' }).click()
  await expect(page.getByRole('status')).toContainText('The key was revoked.')
  await expect(page.getByText('No keys yet.')).toBeVisible()
  expect(await status()).toBe(401)
})
