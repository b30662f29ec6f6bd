import { clickTwice } from './click-twice.ts'
import { ADMIN, createKey, expect, test } from './journey.ts'

test('from the printed link to your own page', async ({ page, appliance, folder }) => {
  const linkOf = () => appliance.output().match(/http\S+\/setup\?token=\S+(?=\n)/)?.[0] ?? ''
  await expect.poll(linkOf).not.toBe('')
  const link = linkOf()
  await page.goto(appliance.url)
  await expect(page).toHaveURL(`${appliance.url}/setup`)

  await page.goto(link)
  await page.getByLabel('Email').fill(ADMIN.email)
  await page.getByLabel('Password').fill(ADMIN.password)
  // The second click sends the form again before the first response.
  await clickTwice(page, page.getByRole('button', { name: 'Create the admin account' }))
  await expect(page.getByRole('heading', { name: 'Your server is ready' })).toBeVisible()

  const where = page.getByRole('listitem').filter({ hasText: 'Choose its address' })
  await where.getByText('With a domain of your own').click()
  await expect(where.getByText('TLS=auto svc serve')).toBeVisible()

  await page.getByRole('link', { name: 'Projects' }).click()
  await page.getByLabel('Owner').fill('acme')
  await page.getByLabel('Name', { exact: true }).fill('website')
  await page.getByLabel('Anyone with the address').check()
  await page.getByRole('button', { name: 'Create project' }).click()
  await expect(page.getByRole('heading', { name: 'website' })).toBeVisible()
  const projectPage = page.url()

  const key = await createKey(page, 'laptop', 'acme/website')
  expect(key).toMatch(/^svc_[\w-]{43}$/)

  const site = folder({
    'index.html':
      '<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>Hi</title><h1>Hello, world</h1>',
  })
  const deployed = await appliance.svc(
    ['deploy', site, '--api-url', appliance.url, '--project', 'acme/website', '--alias', 'production'],
    { SVC_API_KEY: key },
  )
  expect(deployed).toMatchObject({ exitCode: 0 })

  await page.goto(projectPage)
  await page.getByRole('link', { name: 'Open the site' }).click()
  await expect(page).toHaveURL(`http://production--website--acme.localhost:${appliance.port}/`)
  await expect(page.getByRole('heading', { name: 'Hello, world' })).toBeVisible()
})

test('from the start to a published public page: eight actions', async ({ page, appliance, folder }) => {
  const linkOf = () => appliance.output().match(/http\S+\/setup\?token=\S+(?=\n)/)?.[0] ?? ''
  await expect.poll(linkOf).not.toBe('')
  let actions = 0
  const act = async (action: Promise<unknown>): Promise<void> => {
    actions += 1
    await action
  }
  await act(page.goto(linkOf()))
  await act(page.getByLabel('Email').fill(ADMIN.email))
  await act(page.getByLabel('Password', { exact: true }).fill(ADMIN.password))
  await act(page.getByRole('button', { name: 'Create the admin account' }).click())
  const html = '<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>Hi</title><h1>Hello</h1>'
  await act(page.getByLabel('Choose a folder').setInputFiles(folder({ 'index.html': html })))
  await act(page.getByLabel('Anyone with the address').check())
  await act(page.getByRole('button', { name: 'Publish', exact: true }).click())
  await expect(page.getByRole('heading', { name: 'Published', level: 2 })).toBeVisible()
  await act(page.getByRole('link', { name: 'Open the site' }).click())
  await expect(page.getByRole('heading', { name: 'Hello' })).toBeVisible()
  expect(actions).toBe(8)
})
