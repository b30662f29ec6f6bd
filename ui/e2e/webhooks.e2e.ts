import { createServer, type Server } from 'node:http'
import { expect, signIn, test, WITH_ADMIN } from './journey.ts'

test.use({ env: { ...WITH_ADMIN, PROXY_ALLOWED_TARGETS: '127.0.0.1' } })

let receiver: Server
let url: string
const received: string[] = []
test.beforeAll(async () => {
  receiver = createServer((request, response) => {
    received.push(String(request.headers['x-svc-event']))
    response.end('thank you')
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const address = receiver.address()
  url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/chat`
})
test.afterAll(() => void receiver.close())

test('a webhook is made, tested, looked at, sent again and deleted', async ({ page, appliance }) => {
  await page.goto(`${appliance.url}/admin/webhooks`)
  await signIn(page)
  await page.getByLabel('Name').fill('Team chat')
  await page.getByLabel('Address').fill(url)
  await page.getByRole('button', { name: 'Create webhook' }).click()
  await expect(page.getByText('Choose at least one event.')).toBeVisible()
  await page.getByLabel('deployment.released').check()
  await page.getByRole('button', { name: 'Create webhook' }).click()
  await expect(page.getByText(/^whsec_/)).toBeVisible()

  await page.getByRole('link', { name: 'Team chat' }).click()
  await expect(page.getByLabel('deployment.released')).toBeChecked()
  await expect(page.getByText(/^whsec_/)).toHaveCount(0)
  await page.getByRole('button', { name: 'Send a test' }).click()
  await expect(page.getByRole('heading', { name: 'ping' })).toBeVisible()
  await expect(page.getByText('thank you')).toBeVisible()
  await expect(page.getByText('"event":"ping"')).toBeVisible()
  await page.getByRole('button', { name: 'Send again' }).click()
  await expect.poll(() => received).toEqual(['ping', 'ping'])

  await page.getByRole('link', { name: 'Team chat' }).click()
  await page.getByRole('button', { name: 'Delete Team chat' }).click()
  await page.getByRole('button', { name: 'Delete the webhook' }).click()
  await expect(page.getByText('No webhooks yet')).toBeVisible()
})
