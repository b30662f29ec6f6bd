import { join } from 'node:path'
import type { Page } from '@playwright/test'
import { ADMIN, type Appliance, expect, siteTest as test, WITH_ADMIN } from './journey.ts'

const GUESTBOOK = join(import.meta.dirname, '../../examples/guestbook')

test.use({ env: WITH_ADMIN })

/** Pushes the rules, then the pages, like the example's workflow. Returns its address and a reader of records. */
async function publish(appliance: Appliance) {
  const json = { owner: 'acme', name: 'guestbook', isPublic: true }
  const { id } = await (await appliance.asAdmin('POST', '/api/projects', json)).json()
  const { key } = await (
    await appliance.asAdmin('POST', '/api/api-keys', { name: 'ci', projectId: id })
  ).json()
  const where = ['--api-url', appliance.url, '--project', 'acme/guestbook']
  const rules = join(GUESTBOOK, '.svc/proxy-rules/guestbook')
  const pushed = await appliance.svc(['rules', 'push', rules, ...where], { SVC_API_KEY: key })
  expect(pushed).toMatchObject({ exitCode: 0 })
  const deployed = await appliance.svc(['deploy', GUESTBOOK, ...where, '--alias', 'production'], {
    SVC_API_KEY: key,
  })
  expect(deployed).toMatchObject({ exitCode: 0 })
  const records = async (schema: string): Promise<unknown[]> => {
    const { schemas } = await (await appliance.asAdmin('GET', `/api/schemas?projectId=${id}`)).json()
    const found = schemas.find(({ name }: { name: string }) => name === schema)
    return (await (await appliance.asAdmin('GET', `/api/schemas/${found.id}/records`)).json()).data
  }
  return { url: `http://production--guestbook--acme.localhost:${appliance.port}/`, records }
}

const note = (page: Page, text: string) => page.getByRole('listitem').filter({ hasText: text })

/** Opens the page and waits until its scripts have run, because forms lead elsewhere without them. */
async function goTo(page: Page, name: string, address: string): Promise<void> {
  await page.getByRole('link', { name, exact: true }).click()
  await page.waitForURL(address, { waitUntil: 'load' })
}

/** Turns off the browser's own validation, so that the server's is tested. */
const skipChecks = (page: Page) =>
  page.getByRole('button', { name: 'Send' }).evaluate((button: HTMLButtonElement) => {
    button.formNoValidate = true
  })

test('visitors sign the wall and write to the hut', async ({ page, appliance }) => {
  const { url, records } = await publish(appliance)
  await page.goto(url)
  await goTo(page, 'Wall', `${url}wall/index.html`)

  await page.getByLabel('Name').fill('Jonah')
  await page.getByLabel('Note').fill('!')
  await skipChecks(page)
  await page.getByRole('button', { name: 'Send' }).click()
  await expect(page.getByRole('status')).toHaveText('text must be at least 2 characters')
  await expect(page.getByLabel('Name')).toHaveValue('Jonah')

  await page.getByLabel('Note').fill('There was <b>a marmot</b>.')
  await page.getByRole('button', { name: 'Send' }).click()
  await expect(page.getByRole('status')).toHaveText('Thank you.')
  await expect(note(page, 'There was <b>a marmot</b>.')).toContainText('Jonah')
  await expect(page.getByLabel('Note')).toHaveValue('')
  await page.reload()
  await expect(note(page, 'There was <b>a marmot</b>.')).toHaveCount(1)
  await expect(page.getByRole('listitem').filter({ hasText: 'Jonah' }).first()).toContainText('a marmot')

  await goTo(page, 'About', `${url}about.html`)
  await page.getByLabel('Name').fill('Ann')
  await page.getByLabel('Email').fill('ann@localhost')
  await page.getByLabel('Message').fill('Is the stove "warm"?')
  await page.getByRole('button', { name: 'Send' }).click()
  expect(await page.getByLabel('Email').evaluate((input: HTMLInputElement) => input.validity.valid)).toBe(
    false,
  )
  await skipChecks(page)
  await page.getByRole('button', { name: 'Send' }).click()
  await expect(page.getByRole('status')).toHaveText('email must be an email address')
  expect(await records('contacts')).toEqual([])
  await page.getByLabel('Email').fill('ann@example.com')
  await page.getByRole('button', { name: 'Send' }).click()
  await expect(page.getByRole('status')).toHaveText('Thank you.')
  expect(await records('contacts')).toMatchObject([
    { name: 'Ann', email: 'ann@example.com', message: 'Is the stove "warm"?' },
  ])
})

test('too many messages are refused in the page', async ({ page, appliance }) => {
  const { url, records } = await publish(appliance)
  await page.goto(`${url}about.html`)
  for (const [i, said] of [...Array(5).fill('Thank you.'), /^Too many requests/].entries()) {
    await page.getByLabel('Name').fill('Ann')
    await page.getByLabel('Email').fill('ann@example.com')
    await page.getByLabel('Message').fill(`Message ${i}`)
    const answered = page.waitForResponse((answer) => answer.url().endsWith('/api/contact'))
    await page.getByRole('button', { name: 'Send' }).click()
    await answered
    // The text is the same as before. The emptied form shows that the page has read the response.
    if (typeof said === 'string') await expect(page.getByLabel('Message')).toHaveValue('')
    await expect(page.getByRole('status')).toHaveText(said)
  }
  expect(await records('contacts')).toHaveLength(5)
})

/** A red dot. */
const PICTURE = {
  name: 'our hut.png',
  mimeType: 'image/png',
  buffer: Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC',
    'base64',
  ),
}

test('a picture comes with a note, waits until somebody at the hut shows it, and is removed', async ({
  page,
  appliance,
}) => {
  const { url, records } = await publish(appliance)
  await page.goto(`${url}wall/index.html`, { waitUntil: 'load' })
  await page.getByLabel('Name').fill('Ines')
  await page.getByLabel('Note').fill('Fog all the way up.')
  await page.getByLabel('Picture').setInputFiles({ ...PICTURE, name: 'page.html' })
  await page.getByRole('button', { name: 'Send' }).click()
  await expect(page.getByRole('status')).toContainText('type is not taken')
  expect(await records('notes')).toEqual([])
  await page.getByLabel('Picture').setInputFiles(PICTURE)
  await page.getByRole('button', { name: 'Send' }).click()
  await expect(page.getByRole('status')).toContainText('The picture follows')
  await page.reload()
  await expect(note(page, 'Fog all the way up.').last()).toBeVisible()
  await expect(page.getByRole('img', { name: 'Picture of Ines' })).toHaveCount(0)
  const [{ url: address }] = (await records('pictures')) as [{ url: string }]
  expect((await page.goto(new URL(address, url).href))?.status()).toBe(404)
  expect((await page.goto(`${url}api/pictures/page`))?.status()).toBe(401)

  await page.goto(url)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByLabel('Email').fill(ADMIN.email)
  await page.getByLabel('Password').fill(ADMIN.password)
  await page.getByRole('dialog').getByRole('button', { name: 'Sign in', exact: true }).click()
  await expect(page.getByText(ADMIN.email)).toBeVisible()
  await page.goto(`${url}api/pictures/page`)
  const picture = page.getByRole('img', { name: 'Picture of Ines' })
  const width = () => picture.evaluate((img: HTMLImageElement) => img.naturalWidth)
  await expect.poll(width).toBe(1)
  await page.getByRole('button', { name: 'Show' }).click()
  await expect(page.getByText('Everybody sees it.')).toBeVisible()

  await page.getByRole('link', { name: 'Back to the wall' }).click()
  await expect.poll(width).toBe(1)
  await page.goto(`${url}api/pictures/page`)
  await page.getByRole('button', { name: 'Remove' }).click()
  await expect(page.getByText('No note has a picture.')).toBeVisible()
  expect((await page.goto(new URL(address, url).href))?.status()).toBe(404)
  expect(await records('pictures')).toEqual([])
  expect(await records('notes')).toMatchObject([{ text: 'Fog all the way up.', picture: null }])
})

test('a visitor signs in on the guestbook and out again', async ({ page, appliance }) => {
  const { url } = await publish(appliance)
  await page.goto(url)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByLabel('Email').fill(ADMIN.email)
  await page.getByLabel('Password').fill(ADMIN.password)
  await page.getByRole('dialog').getByRole('button', { name: 'Sign in', exact: true }).click()
  await expect(page.getByText(ADMIN.email)).toBeVisible()
  await page.getByRole('link', { name: 'Wall', exact: true }).click()
  await expect(page.getByText(ADMIN.email)).toBeVisible()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await expect(page.getByRole('button', { name: 'Sign in' })).toBeVisible()
})

test.describe('without scripts', () => {
  test.use({ javaScriptEnabled: false })

  test('both forms work, and the notes can be read', async ({ page, appliance }) => {
    const { url, records } = await publish(appliance)
    await page.goto(`${url}wall/index.html`)
    await expect(page.getByText('Thank you.')).toBeHidden()
    await page.getByLabel('Name').fill('Ruth')
    await page.getByRole('button', { name: 'Send' }).click()
    await expect(page).toHaveURL(`${url}wall/index.html`)
    await page.getByLabel('Note').fill('Oil & tea')
    await page.getByRole('button', { name: 'Send' }).click()
    await expect(page).toHaveURL(`${url}wall/index.html#thanks`)
    await expect(page.getByText('Thank you.')).toBeVisible()
    await page.getByRole('link', { name: 'Notes that were left here' }).click()
    await expect(note(page, 'Oil & tea')).toContainText('Ruth')
    await page.getByRole('link', { name: 'Back to the wall' }).click()

    await page.getByRole('link', { name: 'About', exact: true }).click()
    await page.getByLabel('Name').fill('Ruth')
    await page.getByLabel('Email').fill('ruth@example.com')
    await page.getByLabel('Message').fill('Thank you for the stove.')
    await page.getByRole('button', { name: 'Send' }).click()
    await expect(page).toHaveURL(`${url}about.html#thanks`)
    await expect(page.getByText('We read it at the hut.')).toBeVisible()
    expect(await records('contacts')).toMatchObject([{ email: 'ruth@example.com' }])
  })
})

test('every page runs under the policy that the site brings, and old addresses lead on', async ({
  page,
  appliance,
}) => {
  const { url } = await publish(appliance)
  const complaints: string[] = []
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) complaints.push(message.text())
  })
  for (const path of ['', 'about', 'wall/', 'no-such-page']) {
    const answer = await page.goto(`${url}${path}`)
    expect(answer?.headers()['content-security-policy']).toContain("default-src 'none'")
    await page.waitForLoadState('networkidle')
  }
  await expect(page.locator('body')).toHaveCSS('max-width', '544px')
  expect(complaints).toEqual([])
  await page.goto(`${url}hut/stove`)
  expect(page.url()).toBe(`${url}about`)
  expect((await page.goto(`${url}order-pad`))?.status()).toBe(410)
})
