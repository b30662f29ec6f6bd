import type { Page } from '@playwright/test'
import { seriousFaults, violationsInBothThemes } from './axe.ts'
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

/** In both themes, and what sticks out on a phone. */
async function faultsOf(page: Page): Promise<string[]> {
  const faults = seriousFaults(await violationsInBothThemes(page))
  const wide = page.viewportSize()
  await page.setViewportSize({ width: 390, height: 800 })
  const excess = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
  if (wide !== null) await page.setViewportSize(wide)
  return excess > 0 ? [...faults, `${excess} pixels too wide`] : faults
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
    await findAmongAll(domain.page, domain.host)
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

/** The page of all hosts, and back. */
async function findAmongAll(page: Page, host: string): Promise<void> {
  const place = page.url()
  await page.getByRole('link', { name: 'Certificates', exact: true }).click()
  const rowOf = (name: string) => page.getByRole('row').filter({ hasText: name })
  await expect(rowOf(`admin.${BASE_DOMAIN}`)).toContainText('Valid')
  await expect(rowOf(host)).toContainText(REASON)
  await expect(page.getByRole('heading', { name: 'One certificate for every host' })).toBeVisible()
  await page.goto(place)
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

/** The authority offers no proof by DNS, so the wildcard fails; the admin's host is elsewhere and has its own. */
const wildcardTest = test.extend({
  env: async ({ authority }, use) => {
    const dns = { BASE_DOMAIN: 'wild.test', ACME_DNS: 'exec', ACME_DNS_EXEC: '/bin/true' }
    await use({ ...WITH_ADMIN, ...authority.env, ...dns, ADMIN_HOST: `admin.${BASE_DOMAIN}` })
  },
})

for (const javaScriptEnabled of [true, false])
  wildcardTest.describe(javaScriptEnabled ? 'with scripts' : 'without scripts', () => {
    wildcardTest.use({ javaScriptEnabled })

    wildcardTest(
      'the wildcard says why it is missing, and is tried again',
      async ({ page, appliance, authority }) => {
        authority.tell({ do: 'ask', port: appliance.plainPort })
        await expect(async () => void (await page.goto(appliance.url))).toPass()
        await signIn(page)
        await page.getByRole('link', { name: 'Certificates', exact: true }).click()
        const card = page.getByRole('region', { name: 'Every host below the base domain' })
        await expect(card).toContainText('*.wild.test')
        await expect(card).toContainText('offers no proof by DNS (dns-01)')
        await card.getByRole('button', { name: 'Try again now' }).focus()
        await page.keyboard.press('Enter')
        await expect(page.getByRole('alert').first()).toContainText('Try again in')
        if (javaScriptEnabled) expect(await faultsOf(page)).toEqual([])
      },
    )
  })
