import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type BrowserContext, test as base, expect, type Page } from '@playwright/test'
import { ADMIN, type Appliance, startAppliance } from './appliance.ts'
import { startMachines } from './restarted-machines.ts'

export { expect } from '@playwright/test'
export { ADMIN, type Appliance } from './appliance.ts'

type Options = {
  /** The environment of the server. */
  env: Record<string, string>
}

type Fixtures = {
  appliance: Appliance
  /** Creates a folder to publish from paths and contents. It is removed afterwards. */
  folder(files: Record<string, string>): string
  noSurprises: undefined
}

/** The environment of a server that already has its admin. */
export const WITH_ADMIN = { ADMIN_EMAIL: ADMIN.email, ADMIN_PASSWORD: ADMIN.password }

const ARE_MACHINES = process.env['SVC_E2E_MACHINES'] === '1'
/** On another host nobody is known to have changed something: machines show it a second later. contract 18 §6. */
const FRESH_MS = 1_500

/** A test with its own appliance. It fails on any console error and on any request to another server. */
export const test = base.extend<Options & Fixtures>({
  env: [{}, { option: true }],

  appliance: async ({ env }, use) => {
    const appliance = await (ARE_MACHINES ? startMachines(env) : startAppliance(env))
    await use(appliance)
    await appliance.stop()
  },

  page: async ({ page }, use) => {
    const goto = page.goto.bind(page)
    if (ARE_MACHINES)
      page.goto = async (...given) => {
        await page.waitForTimeout(FRESH_MS)
        return goto(...given)
      }
    await use(page)
  },

  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the wanted fixtures from this pattern
  folder: async ({}, use) => {
    const root = mkdtempSync(join(tmpdir(), 'svc-e2e-site-'))
    await use((files) => {
      for (const [path, content] of Object.entries(files)) {
        mkdirSync(dirname(join(root, path)), { recursive: true })
        writeFileSync(join(root, path), content)
      }
      return root
    })
    rmSync(root, { recursive: true, force: true })
  },

  noSurprises: [
    async ({ context, appliance }, use) => {
      const surprises = surprisesOf(context, appliance.port)
      await use(undefined)
      expect(surprises).toEqual([])
    },
    { auto: true },
  ],
})

/** For hosted pages, where refused requests log console errors. Watches only for requests to other hosts. */
export const siteTest = test.extend({
  noSurprises: async ({ context, appliance }, use) => {
    const elsewhere: string[] = []
    context.on('request', (request) => {
      const { hostname, port } = new URL(request.url())
      if (!hostname.endsWith('localhost') || port !== String(appliance.port)) elsewhere.push(request.url())
    })
    await use(undefined)
    expect(elsewhere).toEqual([])
  },
})

/** Collects console errors and foreign requests, except the browser's reports of 4xx pages, which the test checks. */
export function surprisesOf(context: BrowserContext, port: number, baseDomain = 'localhost'): string[] {
  const surprises: string[] = []
  const refusedPages = new Set<string>()
  context.on('response', (response) => {
    if (response.request().isNavigationRequest() && response.status() >= 400)
      refusedPages.add(withoutFragment(response.url()))
  })
  context.on('request', (request) => {
    const url = new URL(request.url())
    const isHostOfOurs = `.${url.hostname}`.endsWith(`.${baseDomain}`) || url.hostname === '127.0.0.1'
    const isOurs = isHostOfOurs && url.port === String(port)
    if (!isOurs && url.protocol !== 'data:') surprises.push(`request to ${request.url()}`)
  })
  context.on('console', (message) => {
    const isRefusedPage =
      message.text().startsWith('Failed to load resource') &&
      refusedPages.has(withoutFragment(message.location().url))
    if (message.type() === 'error' && !isRefusedPage) surprises.push(`console: ${message.text()}`)
  })
  context.on('weberror', (error) => void surprises.push(`script: ${error.error().message}`))
  return surprises
}

const withoutFragment = (url: string) => url.replace(/#.*/, '')

export async function signIn(page: Page, who = ADMIN): Promise<void> {
  await page.getByLabel('Email').fill(who.email)
  await page.getByLabel('Password').fill(who.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** Opens a page as the admin from `WITH_ADMIN`, for tests that are not about signing in. */
export async function openAsAdmin(page: Page, appliance: Appliance, path: string): Promise<void> {
  const cookies = await appliance.adminCookies()
  await page.context().addCookies(cookies.map((cookie) => ({ ...cookie, url: appliance.url })))
  await page.goto(appliance.url + path)
}

/**
 * Waits until the page's script has run, by looking for what it creates. Before that, keys do nothing and forms work as
 * without scripts.
 */
export async function scripted(page: Page): Promise<void> {
  await expect(page.getByRole('button', { name: 'Search and commands' })).toHaveAttribute('aria-haspopup')
}

/** Creates a key on the page and returns it. */
export async function createKey(page: Page, name: string, scope: string): Promise<string> {
  await page.getByRole('link', { name: 'API keys' }).first().click()
  await page.getByLabel('Name').fill(name)
  await page.getByLabel('Works on').selectOption({ label: scope })
  await page.getByRole('button', { name: 'Create key' }).click()
  const key = page.getByRole('group', { name: 'API key' }).getByRole('code')
  await expect(key).toHaveText(/^svc_[\w-]{43}$/)
  return (await key.textContent()) ?? ''
}
