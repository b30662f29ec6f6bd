import type { Browser, Locator, Page } from '@playwright/test'
import { totpCodeAt } from '../../src/platform/totp.ts'
import { type Appliance, expect, signIn, test, WITH_ADMIN } from './journey.ts'
import { codeOfStepBefore } from './second-step.ts'

const GRACE = { email: 'grace@example.com', password: 'correct horse battery' }
const HANDBOOK = {
  'index.html':
    '<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>Handbook</title><h1>Handbook</h1>',
}

test.use({
  env: {
    ...WITH_ADMIN,
    BASE_DOMAIN: 'svc.localhost',
    FEATURE_REQUIRE_PROJECT_MEMBERSHIP: 'true',
    PRIVATE_SITE_RESPONSE: 'login',
  },
})

/** Publishes a private site. Returns its address and that of its People page. */
async function publish(appliance: Appliance, folder: string) {
  const made = await appliance.asAdmin('POST', '/api/api-keys', { name: 'ci', isGlobal: true })
  const { key } = await made.json()
  const deployed = await appliance.svc(
    ['deploy', folder, '--api-url', appliance.url, '--project', 'acme/handbook', '--alias', 'production'],
    { SVC_API_KEY: key },
  )
  expect(deployed).toMatchObject({ exitCode: 0 })
  const { projects } = await (await appliance.asAdmin('GET', '/api/projects')).json()
  return { site: `${projects[0].url}/`, people: `${appliance.url}/projects/${projects[0].id}/people` }
}

/** The admin invites on the page and passes on only the link. */
async function invite(browser: Browser, people: string): Promise<string> {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(people)
  await signIn(page)
  await page.getByLabel('Email').fill(GRACE.email)
  await page.getByRole('button', { name: 'Invite' }).click()
  const link = await textOf(page.getByRole('group', { name: /Invitation link/ }), /\/invite\?token=\S+$/)
  await context.close()
  return link.trim()
}

/** The text of a copyable block, once it is complete. */
async function textOf(place: Locator, whole: RegExp): Promise<string> {
  await expect(place).toHaveText(whole)
  return (await place.textContent()) ?? ''
}

/** Turns on two-step sign-in. The current code is still unused afterwards. */
async function turnOnSecondStep(page: Page): Promise<{ secret: string; used: string }> {
  const section = page.getByRole('region', { name: 'Two-step sign-in' })
  await section.getByRole('button', { name: 'Turn on' }).click()
  await expect(section.getByRole('img', { name: /QR code/ })).toBeVisible()
  const key = section.getByRole('group', { name: 'Or type this key into the app' })
  const secret = (await textOf(key, /^[A-Z2-7]{4}( [A-Z2-7]{4}){7}$/)).replaceAll(/\s/g, '')
  const used = await codeOfStepBefore(secret)
  await section.getByLabel('Six-digit code').fill(used)
  await section.getByRole('button', { name: 'Turn on' }).click()
  await expect(section.getByRole('group', { name: 'Recovery codes' })).toHaveText(/^\S+(\s+\S+){9}\s*$/)
  await section.getByRole('link', { name: 'I have saved them' }).click()
  await expect(section.getByText('10 recovery codes are left.')).toBeVisible()
  return { secret, used }
}

for (const javaScriptEnabled of [true, false])
  test.describe(javaScriptEnabled ? 'with scripts' : 'without scripts', () => {
    test.use({ javaScriptEnabled })

    test('from the invitation to leaving: sign-up, site, hub, second step, site, refused', async ({
      page,
      browser,
      appliance,
      folder,
    }) => {
      const { site, people } = await publish(appliance, folder(HANDBOOK))
      const link = await invite(browser, people)

      await page.goto(link)
      await expect(page.getByRole('heading', { name: 'Join handbook' })).toBeVisible()
      await page.getByLabel('Choose a password').fill(GRACE.password)
      await page.getByRole('button', { name: 'Create account and join' }).click()
      await expect(page).toHaveURL(site)
      await expect(page.getByRole('heading', { name: 'Handbook' })).toBeVisible()

      await page.goto(`${appliance.url}/account`)
      const mine = page.getByRole('region', { name: 'My Sites' })
      await expect(mine.getByRole('row', { name: /handbook/ })).toContainText('Guest')
      await mine.getByRole('link', { name: 'handbook' }).click()
      await expect(page).toHaveURL(site)
      await expect(page.getByRole('heading', { name: 'Handbook' })).toBeVisible()

      await page.goto(`${appliance.url}/account`)
      const { secret, used } = await turnOnSecondStep(page)
      await page.getByRole('main').getByRole('button', { name: 'Sign out' }).click()
      await expect(page.getByRole('heading', { name: 'You are signed out' })).toBeVisible()

      await page.goto(site)
      await signIn(page, GRACE)
      await expect(page.getByRole('heading', { name: 'Enter your code' })).toBeVisible()
      await page.getByLabel('Code from the app').fill(used)
      await page.getByRole('button', { name: 'Continue', exact: true }).click()
      await expect(page.getByText(/The code is wrong or has been used/)).toBeVisible()
      await page.getByLabel('Code from the app').fill(await totpCodeAt(secret, Date.now()))
      await page.getByRole('button', { name: 'Continue', exact: true }).click()
      await expect(page).toHaveURL(site)
      await expect(page.getByRole('heading', { name: 'Handbook' })).toBeVisible()

      await page.goto(`${appliance.url}/account`)
      await mine.getByRole('button', { name: 'Leave handbook' }).click()
      const question = page.getByRole('dialog', { name: 'Leave handbook?' })
      await question.getByRole('button', { name: 'Leave the site' }).click()
      await expect(page.getByRole('status')).toContainText('You have left the site.')
      await expect(mine.getByText('You do not belong to a site yet.')).toBeVisible()

      await page.goto(site)
      await expect(page.getByRole('heading', { name: 'You cannot see this site' })).toBeVisible()
      await expect(page.getByText(GRACE.email)).toBeVisible()
      await page.getByRole('link', { name: 'Your account and sites' }).click()
      await expect(page).toHaveURL(`${appliance.url}/account`)
    })
  })
