import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from '@playwright/test'
import { totpCodeAt } from '../../src/platform/totp.ts'
import { ADMIN, type Appliance, expect, siteTest as test, WITH_ADMIN } from './journey.ts'
import { codeOfStepBefore } from './second-step.ts'

const SITE = {
  'index.html': `<!doctype html><html lang="en"><link rel="icon" href="/icon.svg"><title>Club</title>
<script type="module" src="/_svc/auth.js"></script><script src="/heard.js"></script>
<h1>Club</h1><svc-auth label="Members"></svc-auth>`,
  'heard.js': `window.heard = []
for (const name of ['svc-signin', 'svc-signout'])
  document.addEventListener(name, (event) => heard.push([name, event.detail.user.email]))`,
  'icon.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
}

const README = readFileSync(join(import.meta.dirname, '../../packages/auth-dialog/README.md'), 'utf8')
const KEPT_PLACE = README.match(/```css\n(.*?)```/s)?.[1] ?? ''

test.use({ env: { ...WITH_ADMIN, BASE_DOMAIN: 'svc.localhost' } })

async function publish(appliance: Appliance, folder: string): Promise<string> {
  const { key } = await (
    await appliance.asAdmin('POST', '/api/api-keys', { name: 'ci', isGlobal: true })
  ).json()
  const deployed = await appliance.svc(
    ['deploy', folder, '--api-url', appliance.url, '--project', 'acme/club', '--alias', 'production'],
    { SVC_API_KEY: key },
  )
  expect(deployed).toMatchObject({ exitCode: 0 })
  const { projects } = await (await appliance.asAdmin('GET', '/api/projects')).json()
  await appliance.asAdmin('PATCH', `/api/projects/${projects[0].id}`, { isPublic: true })
  await appliance.asAdmin('PATCH', '/api/settings', { allowPublicSignups: true })
  return `${projects[0].url}/`
}

async function fill(page: Page, fields: Record<string, string>, submit: string): Promise<void> {
  for (const [label, text] of Object.entries(fields)) await page.getByLabel(label).fill(text)
  await page.getByRole('dialog').getByRole('button', { name: submit, exact: true }).click()
}

const heard = (page: Page) => page.evaluate(() => (window as unknown as { heard: unknown }).heard)

test('signing up, in and out on a site, with the keyboard and the second step', async ({
  page,
  appliance,
  folder,
}) => {
  await page.goto(await publish(appliance, folder(SITE)))

  await page.getByRole('button', { name: 'Members' }).focus()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('dialog', { name: 'Sign in' })).toBeVisible()
  await expect(page.getByLabel('Email')).toBeFocused()
  await expect(page.getByRole('link', { name: 'Manage your account' })).toHaveAttribute(
    'href',
    `${appliance.url}/account`,
  )
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toBeHidden()
  await expect(page.getByRole('button', { name: 'Members' })).toBeFocused()

  await page.keyboard.press('Enter')
  await fill(page, { Email: ADMIN.email, Password: 'not the password' }, 'Sign in')
  await expect(page.getByRole('alert')).toHaveText('Email or password is wrong')
  await page.getByRole('button', { name: 'Forgot your password?' }).click()
  await expect(page.getByRole('status')).toContainText('This server cannot send mail. Ask an admin')
  await expect(page.getByRole('dialog').getByRole('textbox')).toHaveCount(0)
  await page.getByRole('button', { name: 'Sign in instead' }).click()

  await page.getByRole('button', { name: 'Create an account' }).click()
  await fill(page, { Email: ADMIN.email, Password: 'some other password' }, 'Create account')
  await expect(page.getByRole('alert')).toContainText('An account with this email already exists')
  await page.getByRole('alert').getByRole('button', { name: 'Sign in instead' }).click()
  await expect(page.getByLabel('Email')).toHaveValue(ADMIN.email)

  await page.getByRole('button', { name: 'Create an account' }).click()
  await fill(page, { Email: 'grace@example.com', Password: ADMIN.password }, 'Create account')
  await expect(page.getByText('grace@example.com')).toBeVisible()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await expect(page.getByRole('button', { name: 'Members' })).toBeVisible()
  expect(await heard(page)).toEqual([
    ['svc-signin', 'grace@example.com'],
    ['svc-signout', 'grace@example.com'],
  ])

  const { secret } = await (await appliance.asAdmin('POST', '/api/account/mfa/totp', {})).json()
  const code = await codeOfStepBefore(secret)
  expect((await appliance.asAdmin('POST', '/api/account/mfa/totp/confirm', { code })).status).toBe(200)
  await page.evaluate(() => (window as unknown as { svc: { open(): Promise<void> } }).svc.open())
  await fill(page, { Email: ADMIN.email, Password: ADMIN.password }, 'Sign in')
  await expect(page.getByRole('dialog', { name: 'Enter your code' })).toBeVisible()
  await fill(page, { 'Code from your app': '000000' }, 'Continue')
  await expect(page.getByRole('alert')).toContainText('The code is wrong')
  await fill(page, { 'Code from your app': await totpCodeAt(secret, Date.now()) }, 'Continue')
  await expect(page.getByText(ADMIN.email)).toBeVisible()
  expect(
    await page.evaluate(async () => {
      const { svc } = window as unknown as { svc: { session(): Promise<{ email: string }> } }
      return (await svc.session()).email
    }),
  ).toBe(ADMIN.email)
  await page.reload()
  await expect(page.getByText(ADMIN.email)).toBeVisible()

  const { projects } = await (await appliance.asAdmin('GET', '/api/projects')).json()
  await appliance.asAdmin('PATCH', `/api/projects/${projects[0].id}`, { isPublic: false })
  await page.getByRole('button', { name: 'Sign out' }).click()
  await expect(page.getByRole('heading', { name: 'Club' })).toBeHidden()
})

test('the page does not move when the script comes, nor when it is known who is there', async ({
  page,
  appliance,
  folder,
}) => {
  const text = '<p>Below the button</p>'
  const url = await publish(
    appliance,
    folder({
      'index.html': `<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>Club</title>
<style>${KEPT_PLACE}</style><script type="module" src="/_svc/auth.js"></script>
<div><svc-auth></svc-auth></div>${text}<div><svc-auth dialog-only></svc-auth></div>${text}`,
    }),
  )
  const script = await heldBack(page, '**/_svc/auth.js')
  const session = await heldBack(page, '**/_svc/auth/session')
  await page.goto(url, { waitUntil: 'commit' })
  const texts = page.getByText('Below the button')
  await expect(texts).toHaveCount(2)
  const places = () => texts.evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top))
  const before = await places()
  script.release()
  await session.asked
  expect(await places()).toEqual(before)
  session.release()
  await expect(page.getByRole('button', { name: 'Sign in' })).toBeVisible()
  expect(await places()).toEqual(before)

  await page.getByRole('button', { name: 'Sign in' }).click()
  await fill(page, { Email: ADMIN.email, Password: ADMIN.password }, 'Sign in')
  await expect(page.getByRole('button', { name: 'Sign out' })).toBeVisible()
  expect(await places()).toEqual(before)
})

test.describe('with a mail server', () => {
  test.use({ env: { ...WITH_ADMIN, BASE_DOMAIN: 'svc.localhost', SMTP_URL: 'smtp://127.0.0.1:1' } })

  test('a forgotten password is answered with a mail', async ({ page, appliance, folder }) => {
    await page.goto(await publish(appliance, folder(SITE)))
    await page.getByRole('button', { name: 'Members' }).click()
    await page.getByRole('button', { name: 'Forgot your password?' }).click()
    await fill(page, { Email: 'nobody@example.com' }, 'Send a link')
    await expect(page.getByRole('status')).toContainText('a link is on its way')
  })
})

/** Requests to that address wait until they are released. */
async function heldBack(page: Page, address: string) {
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const asked = page.waitForRequest(address)
  await page.route(address, async (route) => {
    await released
    await route.continue()
  })
  return { asked, release }
}
