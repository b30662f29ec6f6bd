import { expect, signIn, test, WITH_ADMIN } from './journey.ts'

test.use({ env: WITH_ADMIN })

test('checks are set, a bad release is held back and shown, and released all the same', async ({
  page,
  appliance,
}) => {
  await page.goto(`${appliance.url}/projects/new`)
  await signIn(page)
  await page.waitForURL('**/projects/new')
  const headers = { origin: appliance.url }
  const publish = async (digit: string, text: string) => {
    const answer = await page.request.post(`${appliance.url}/api/deployments`, {
      headers,
      multipart: {
        repository: 'acme/docs',
        commitSha: digit.repeat(40),
        alias: 'production',
        file: { name: 'index.html', mimeType: 'text/html', buffer: Buffer.from(text) },
      },
    })
    expect(answer.status()).toBe(201)
    return (await answer.json()) as { deployment: { id: string }; release: { status: string } }
  }
  const made = await page.request.post(`${appliance.url}/api/projects`, {
    headers,
    data: { owner: 'acme', name: 'docs' },
  })
  const { id } = (await made.json()) as { id: string }
  expect((await publish('1', 'Register 1')).release.status).toBe('moved')

  await page.goto(`${appliance.url}/projects/${id}/settings`)
  await page.getByRole('link', { name: 'Set what is checked' }).click()
  await page.getByLabel('Path').fill('/')
  await page.getByLabel('Name', { exact: true }).fill('imprint')
  await page.getByLabel('Text in it').fill('Register')
  await page.getByRole('button', { name: 'Add the page' }).click()
  await expect(page.getByText('The release checks were saved.')).toBeVisible()
  await expect(page.getByRole('rowheader', { name: 'imprint' })).toBeVisible()

  const held = await publish('2', 'nobody')
  expect(held.release.status).toBe('failed')
  await page.goto(`${appliance.url}/projects/${id}/deployments/${held.deployment.id}`)
  await expect(page.getByRole('heading', { name: 'Held back by its checks' })).toBeVisible()
  await expect(page.getByText('the body does not contain "Register"')).toBeVisible()
  await page.getByRole('button', { name: 'Release all the same' }).click()
  await page.getByRole('button', { name: 'Release it' }).click()
  await expect(page.getByText('Released, although checks failed.')).toBeVisible()
  await expect(page.getByRole('heading', { name: 'Held back by its checks' })).toBeHidden()
})
