import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTestCa } from '../../src/testing/test-ca.ts'
import { type Appliance, expect, siteTest as test, WITH_ADMIN } from './journey.ts'

const GUESTBOOK = join(import.meta.dirname, '../../examples/guestbook')
const RULE = '.svc/proxy-rules/guestbook/rules/api/weather/get.rule.yaml'

// In order: otherwise the second test could run after the shared set-up was removed.
test.describe.configure({ mode: 'default' })

const root = mkdtempSync(join(tmpdir(), 'svc-e2e-weather-'))
const ca = createTestCa()
writeFileSync(join(root, 'ca.pem'), ca.pem)

test.use({
  env: { ...WITH_ADMIN, PROXY_ALLOWED_TARGETS: 'localhost', NODE_EXTRA_CA_CERTS: join(root, 'ca.pem') },
})

let standIn: Server
let answer: (response: ServerResponse) => void

test.beforeAll(async () => {
  standIn = createServer(ca.issue({ names: ['localhost'] }), (_, response) => answer(response))
  await new Promise<void>((resolve) => standIn.listen(0, '127.0.0.1', resolve))
})
test.afterAll(async () => {
  standIn.closeAllConnections()
  await new Promise((resolve) => standIn.close(resolve))
  rmSync(root, { recursive: true, force: true })
})

/** The guestbook with rules that call a stand-in instead of the public API. */
async function publish(appliance: Appliance): Promise<string> {
  const folder = mkdtempSync(join(root, 'guestbook-'))
  cpSync(GUESTBOOK, folder, { recursive: true })
  const rule = readFileSync(join(folder, RULE), 'utf8')
  const here = `https://localhost:${(standIn.address() as AddressInfo).port}`
  writeFileSync(join(folder, RULE), rule.replace('https://api.open-meteo.com', here))
  const json = { owner: 'acme', name: 'guestbook', isPublic: true }
  const { id } = await (await appliance.asAdmin('POST', '/api/projects', json)).json()
  const made = await appliance.asAdmin('POST', '/api/api-keys', { name: 'ci', projectId: id })
  const { key } = await made.json()
  const where = ['--api-url', appliance.url, '--project', 'acme/guestbook']
  const rules = join(folder, '.svc/proxy-rules/guestbook')
  for (const args of [
    ['rules', 'push', rules, ...where],
    ['deploy', folder, ...where, '--alias', 'production'],
  ])
    expect(await appliance.svc(args, { SVC_API_KEY: key })).toMatchObject({ exitCode: 0 })
  return `http://production--guestbook--acme.localhost:${appliance.port}/`
}

test('the welcome page shows the weather at the hut', async ({ page, appliance }) => {
  answer = (response) => response.end('{"current":{"temperature_2m":-3.4,"wind_speed_10m":12.6}}')
  await page.goto(await publish(appliance))
  await expect(page.getByText('At the hut now')).toHaveText(
    'At the hut now: -3 °C, wind 13 km/h. Weather by Open-Meteo.',
  )
})

test('it shows nothing if the weather is not available', async ({ page, appliance }) => {
  const url = await publish(appliance)
  const failures: ((response: ServerResponse) => void)[] = [
    (response) => response.writeHead(500).end(),
    (response) => response.destroy(),
    (response) => response.end('<h1>Sorry</h1>'),
    (response) => response.end('{"current":{}}'),
  ]
  for (const failure of failures) {
    answer = failure
    const asked = page.waitForResponse((response) => response.url().endsWith('/api/weather'))
    await page.goto(url)
    await (await asked).finished()
    // By then the page's script has read the response.
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0))))
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
    await expect(page.getByText('At the hut now')).toBeHidden()
  }
})
