import type { Page } from '@playwright/test'
import { type CertificateAuthority, startAuthority } from './certificate-authority.ts'
import { type Appliance, test as base, expect, signIn, surprisesOf, WITH_ADMIN } from './journey.ts'
import journeys from './playwright.config.ts'

const BASE_DOMAIN = 'sites.test'
const REASON = 'Fetching http://that.sites.test/: Timeout during connect (likely firewall problem)'

/** The server's own authority, whose root certificate the browser does not know. */
const test = base.extend<{ authority: CertificateAuthority }>({
  authority: async ({ browserName: _ }, use) => {
    const authority = await startAuthority()
    await use(authority)
    await authority.stop()
  },
  env: async ({ authority }, use) => use({ ...WITH_ADMIN, ...authority.env, BASE_DOMAIN }),
  noSurprises: async ({ context, appliance }, use) => {
    const surprises = surprisesOf(context, appliance.port, BASE_DOMAIN)
    await use(undefined)
    expect(surprises).toEqual([])
  },
})

const { launchOptions } = journeys.use ?? {}
test.use({
  ignoreHTTPSErrors: true,
  launchOptions: {
    ...launchOptions,
    args: [...(launchOptions?.args ?? []), `--host-resolver-rules=MAP *.${BASE_DOMAIN} 127.0.0.1`],
  },
})

/** Creates a public project with one alias, with a key created in the data directory. */
async function publish(appliance: Appliance, folder: string): Promise<void> {
  const key = await appliance.svc(['key', 'create', 'ci', '--data-dir', '.'])
  const { exitCode, output } = await appliance.svc(
    [
      ...['deploy', folder, '--api-url', `https://127.0.0.1:${appliance.port}`, '--public'],
      ...['--project', 'acme/website', '--alias', 'production', '--sha', 'a'.repeat(16)],
    ],
    // The certificate is for the admin's name, which only the browser resolves to this server.
    { SVC_API_KEY: key.output.trim(), NODE_TLS_REJECT_UNAUTHORIZED: '0' },
  )
  expect([exitCode, output]).toEqual([0, expect.stringContaining('production')])
}

const tryAgain = (page: Page) => page.getByRole('button', { name: 'Try again now' }).click()

test('domains say why they have no certificate, and get one once the cause is fixed: with scripts and without', async ({
  browser,
  page,
  appliance,
  authority,
  folder,
}) => {
  const plain = await browser.newContext({ javaScriptEnabled: false, ignoreHTTPSErrors: true })
  const surprises = surprisesOf(plain, appliance.port, BASE_DOMAIN)
  const domains = [
    { page, host: `docs.${BASE_DOMAIN}` },
    { page: await plain.newPage(), host: `book.${BASE_DOMAIN}` },
  ]
  for (const { host } of domains) authority.tell({ do: 'refuse', host, detail: REASON })
  authority.tell({ do: 'ask', port: appliance.plainPort })
  await expect(async () => void (await page.goto(appliance.url))).toPass()
  await publish(
    appliance,
    folder({ 'index.html': '<!doctype html><html lang="en"><link rel="icon" href="data:,"><h1>Hi</h1>' }),
  )
  for (const domain of domains) {
    await addInVain(domain.page, appliance, domain.host)
    authority.tell({ do: 'forgive', host: domain.host })
  }
  // Both wait for the same seconds.
  await Promise.all(domains.map(({ page, host }) => mend(page, appliance, host)))
  await plain.close()
  expect(surprises).toEqual([])
})

async function addInVain(page: Page, appliance: Appliance, host: string): Promise<void> {
  await page.goto(appliance.url)
  await signIn(page)
  await page.getByRole('link', { name: 'acme/website', exact: true }).click()
  await page.getByRole('link', { name: 'Addresses' }).click()
  await page.getByRole('link', { name: 'Domains' }).click()
  await page.getByLabel('Host').fill(host)
  await page.getByRole('button', { name: 'Add domain' }).click()
  await expect(page.getByRole('status')).toContainText('The domain was added.')
  await expect(async () => {
    await page.reload()
    expect(await page.getByText(REASON).count()).toBe(1)
  }).toPass()
  // Immediately: the server would retry after 20 seconds, and then only after minutes.
  await tryAgain(page)
  await expect(page.getByRole('alert')).toContainText('It was tried just now. Try again in')
  await expect(page.getByText('No certificate', { exact: true })).toBeVisible()
  await expect(page.getByText('must be open to the internet')).toBeVisible()
}

async function mend(page: Page, appliance: Appliance, host: string): Promise<void> {
  const isThere = page.getByText('The certificate was issued.')
  await expect(async () => {
    await tryAgain(page)
    await expect(page.getByRole('alert').or(isThere)).toBeVisible()
    expect(await isThere.count()).toBe(1)
  }).toPass({ intervals: [2_000], timeout: 60_000 })
  await expect(page.getByText('renews it automatically')).toBeVisible()
  await page.getByRole('link', { name: 'Visit', exact: true }).click()
  await expect(page).toHaveURL(`https://${host}:${appliance.port}/`)
  await expect(page.getByRole('heading', { name: 'Hi' })).toBeVisible()
}
