import { expect, signIn, test, WITH_ADMIN } from './journey.ts'

test.use({ env: { ...WITH_ADMIN, BASE_DOMAIN: 'svc.localhost' } })

test('cookies of a sibling site neither lock anybody out nor stay for good', async ({ page, appliance }) => {
  await page.goto(appliance.url)
  await signIn(page)
  await expect(page.getByRole('heading', { name: 'Projects' })).toBeVisible()
  const sibling = Array.from({ length: 16 }, (_, i) => ({
    name: `junk${i}`,
    value: 'x'.repeat(3000),
    domain: '.svc.localhost',
    path: '/',
  }))
  await page.context().addCookies(sibling)

  await page.goto(appliance.url)
  await expect(page.getByRole('heading', { name: 'Projects' })).toBeVisible()
  await page.getByRole('link', { name: 'Clear them' }).click()
  await page.getByRole('button', { name: 'Clear cookies' }).click()

  await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible()
  expect(await page.context().cookies()).toEqual([])
})
