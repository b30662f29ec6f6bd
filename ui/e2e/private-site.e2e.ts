import { type Appliance, expect, signIn, test, WITH_ADMIN } from './journey.ts'

const VISITOR = { email: 'grace@example.com', password: 'correct horse battery' }
const HANDBOOK = {
  'index.html':
    '<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>Handbook</title><h1>Handbook</h1>',
}

/** Publishes a private site, creates a visitor without a role on it, and returns the site's address. */
async function publish(appliance: Appliance, folder: string) {
  const made = await appliance.asAdmin('POST', '/api/api-keys', { name: 'ci', isGlobal: true })
  const { key } = await made.json()
  const deployed = await appliance.svc(
    ['deploy', folder, '--api-url', appliance.url, '--project', 'acme/handbook', '--alias', 'production'],
    { SVC_API_KEY: key },
  )
  expect(deployed).toMatchObject({ exitCode: 0 })
  await appliance.asAdmin('POST', '/api/users', VISITOR)
  const { projects } = await (await appliance.asAdmin('GET', '/api/projects')).json()
  return { id: String(projects[0].id), url: `${projects[0].url}/` }
}

test.describe('below a base domain', () => {
  test.use({ env: { ...WITH_ADMIN, BASE_DOMAIN: 'svc.localhost' } })

  test('404 for strangers, then sign-in, then a page that names the account without access', async ({
    page,
    appliance,
    folder,
  }) => {
    const site = await publish(appliance, folder(HANDBOOK))
    await page.goto(`${site.url}?page=2&q=a%26b`)
    await expect(page.getByRole('heading', { name: 'No site lives here' })).toBeVisible()
    await page.getByRole('link', { name: 'Is it a private site? Sign in' }).click()
    await signIn(page)
    await expect(page).toHaveURL(`${site.url}?page=2&q=a%26b`)
    await expect(page.getByRole('heading', { name: 'Handbook' })).toBeVisible()
    await page.context().clearCookies()

    await appliance.asAdmin('PATCH', `/api/projects/${site.id}`, { privateSiteResponse: 'login' })
    await page.goto(`${site.url}?page=1`)
    await signIn(page, VISITOR)
    await expect(page).toHaveURL(`${site.url}?page=1`)
    await expect(page.getByRole('heading', { name: 'You cannot see this site' })).toBeVisible()
    await expect(page.getByText(VISITOR.email)).toBeVisible()

    await page.getByRole('button', { name: 'Sign out' }).click()
    await signIn(page)
    await expect(page.getByRole('heading', { name: 'Handbook' })).toBeVisible()

    await page.goto(`http://nobody.svc.localhost:${appliance.port}/`)
    await expect(page.getByRole('heading', { name: 'No site lives here' })).toBeVisible()
  })
})

test.describe('on localhost, where no cookie is shared', () => {
  test.use({ env: { ...WITH_ADMIN, PRIVATE_SITE_RESPONSE: 'login' } })

  test('the session is handed on to the site, even if it is hidden', async ({ page, appliance, folder }) => {
    const site = await publish(appliance, folder(HANDBOOK))
    await page.goto(site.url)
    await signIn(page)
    await expect(page).toHaveURL(site.url)
    await expect(page.getByRole('heading', { name: 'Handbook' })).toBeVisible()

    await appliance.asAdmin('PATCH', `/api/projects/${site.id}`, { privateSiteResponse: 'not_found' })
    await page.context().clearCookies()
    await page.goto(`${site.url}?page=1`)
    await expect(page.getByRole('heading', { name: 'No site lives here' })).toBeVisible()
    await page.getByRole('link', { name: 'Sign in' }).click()
    await signIn(page)
    await expect(page).toHaveURL(`${site.url}?page=1`)
    await expect(page.getByRole('heading', { name: 'Handbook' })).toBeVisible()
  })

  test('the admin and the account hub lead straight into a hidden site', async ({
    page,
    appliance,
    folder,
  }) => {
    const site = await publish(appliance, folder(HANDBOOK))
    await appliance.asAdmin('PATCH', `/api/projects/${site.id}`, { privateSiteResponse: 'not_found' })
    await appliance.asAdmin('POST', `/api/projects/${site.id}/permissions/users`, {
      email: VISITOR.email,
      role: 'guest',
    })
    await page.goto(`${appliance.url}/account`)
    await signIn(page, VISITOR)
    await page.getByRole('link', { name: 'handbook' }).click()
    await expect(page).toHaveURL(site.url)
    await expect(page.getByRole('heading', { name: 'Handbook' })).toBeVisible()

    await page.context().clearCookies()
    await page.goto(`${appliance.url}/projects/${site.id}`)
    await signIn(page)
    await page.getByRole('link', { name: 'Open the site' }).click()
    await expect(page).toHaveURL(site.url)
    await expect(page.getByRole('heading', { name: 'Handbook' })).toBeVisible()

    await page.goto(`${appliance.url}/projects/${site.id}/deployments`)
    await page.getByRole('table').getByRole('link').first().click()
    await page.getByRole('link', { name: /^Open #/ }).click()
    await expect(page.getByRole('heading', { name: 'Handbook' })).toBeVisible()
  })
})
