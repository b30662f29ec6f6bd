import { type Appliance, expect, openAsAdmin, test, WITH_ADMIN } from './journey.ts'
import { createWebsite, pageOf } from './publish-website.ts'

test.use({ env: WITH_ADMIN })

/** Creates a public project with one deployment for each of three aliases and returns its id. */
async function publish(appliance: Appliance): Promise<string> {
  const { id, upload } = await createWebsite(appliance)
  for (const [sha, alias] of [
    ['a', 'beta'],
    ['b', 'next'],
    ['c', 'production'],
  ] as const)
    await upload({ 'index.html': pageOf(alias) }, { alias, commitSha: sha.repeat(16) })
  return id
}

for (const javaScriptEnabled of [true, false])
  test.describe(javaScriptEnabled ? 'with scripts' : 'without scripts', () => {
    test.use({ javaScriptEnabled })

    test('a domain is added, serves, is changed and deleted', async ({ page, appliance }) => {
      const id = await publish(appliance)
      await openAsAdmin(page, appliance, `/projects/${id}`)
      await page.getByRole('link', { name: 'Addresses' }).click()
      await page.getByRole('link', { name: 'Domains' }).click()
      await page.getByLabel('Host').fill('docs.localhost/guide')
      await page.getByRole('button', { name: 'Add domain' }).click()
      await expect(page.getByLabel('Host')).toHaveAccessibleDescription(/without scheme, port and path/)
      await page.getByLabel('Host').fill('https://docs.localhost/')
      await page.getByLabel('Alias').selectOption('next')
      await page.getByRole('button', { name: 'Add domain' }).click()
      await expect(page.getByRole('status')).toContainText('The domain was added.')
      const domain = page.url()
      await page.getByRole('link', { name: 'Visit', exact: true }).click()
      await expect(page.getByRole('heading', { name: 'next' })).toBeVisible()

      await page.goto(domain)
      await page.getByLabel('Alias').selectOption('production')
      await page.getByRole('button', { name: 'Save' }).click()
      await expect(page.getByRole('status')).toContainText('Saved.')
      await page.getByRole('link', { name: 'Visit', exact: true }).click()
      await expect(page.getByRole('heading', { name: 'production' })).toBeVisible()

      await page.goto(domain)
      await page.getByRole('button', { name: 'Delete this domain' }).click()
      const question = page.getByRole('dialog', { name: 'Delete docs.localhost?' })
      await question.getByRole('button', { name: 'Delete the domain' }).click()
      await expect(page.getByRole('status')).toContainText('The domain was removed.')
      await expect(page.getByRole('heading', { name: 'No domains yet' })).toBeVisible()
    })

    test('an external domain must be verified, and says why that failed', async ({ page, appliance }) => {
      const id = await publish(appliance)
      await openAsAdmin(page, appliance, `/projects/${id}/domains`)
      await page.getByLabel('Host').fill('www.nowhere.invalid')
      await page.getByRole('button', { name: 'Add domain' }).click()
      const name = page.getByRole('group', { name: 'Name of the TXT record' })
      await expect(name).toHaveText('_svc-challenge.www.nowhere.invalid')
      await expect(page.getByRole('group', { name: 'Value of the TXT record' })).toHaveText(/^\S{20,}$/)
      await expect(page.getByText('gets no certificate for this host')).toBeVisible()

      await page.getByRole('button', { name: 'Verify' }).click()
      await expect(page.getByText('Not found.')).toBeVisible()
      await expect(page.getByText(/_svc-challenge\.www\.nowhere\.invalid has no TXT record/)).toBeVisible()
      await page.getByRole('button', { name: 'Check again' }).click()
      await expect(page.getByText('Not found.')).toBeVisible()

      await page.getByText('Trust it without verification').click()
      await page.getByRole('button', { name: 'Trust this domain' }).click()
      await expect(page.getByRole('status')).toContainText('The domain is verified and now serves.')
    })

    test('rules send visitors to an alias, in order', async ({ page, appliance }) => {
      const id = await publish(appliance)
      const domain = { projectId: id, hostname: 'split.localhost', alias: 'production' }
      const made = await (await appliance.asAdmin('POST', '/api/domains', domain)).json()
      await openAsAdmin(page, appliance, `/projects/${id}/domains/${made.id}/traffic`)
      for (const [value, alias] of [
        ['1', 'next'],
        ['2', 'beta'],
      ] as const) {
        const form = page.locator('form').filter({ has: page.getByRole('button', { name: 'Add rule' }) })
        await form.getByLabel('Name').fill('preview')
        await form.getByLabel('Value').fill(value)
        await form.getByLabel('See').selectOption(alias)
        await form.getByRole('button', { name: 'Add rule' }).click()
        await expect(page.getByRole('button', { name: `Delete: preview=${value}` })).toBeVisible()
      }
      await expect(page.getByRole('button', { name: 'Up: preview=1' })).toBeDisabled()
      await page.getByRole('button', { name: 'Up: preview=2' }).click()
      await expect(page.getByRole('button', { name: 'Up: preview=2' })).toBeDisabled()

      await page.getByText('Change preview=2').click()
      const first = page.getByRole('listitem').filter({ hasText: 'Change preview=2' })
      await first.getByLabel('See').selectOption('next')
      await first.getByRole('button', { name: 'Save: preview=2' }).click()
      await expect(page.getByRole('status')).toContainText('Saved.')
      await page.getByRole('button', { name: 'Delete: preview=1' }).click()
      await page.getByRole('button', { name: 'Delete the rule' }).click()
      await expect(page.getByRole('status')).toContainText('The rule was deleted.')
      const place = page.url()
      await page.goto(`http://split.localhost:${appliance.port}/?preview=2`)
      await expect(page.getByRole('heading', { name: 'next' })).toBeVisible()

      await page.goto(place)
      await page.getByRole('button', { name: 'Stop splitting' }).click()
      await page.getByRole('button', { name: 'Delete the shares and rules' }).click()
      await expect(page.getByText('No rules yet.')).toBeVisible()
    })
  })

test('sliders always add up to 100', async ({ page, appliance }) => {
  const id = await publish(appliance)
  const domain = { projectId: id, hostname: 'split.localhost', alias: 'production' }
  const made = await (await appliance.asAdmin('POST', '/api/domains', domain)).json()
  const traffic = `/api/domains/${made.id}/traffic`
  await appliance.asAdmin('PUT', traffic, {
    weights: [
      { alias: 'production', weight: 60 },
      { alias: 'next', weight: 40 },
    ],
  })
  await openAsAdmin(page, appliance, `/projects/${id}/domains/${made.id}/traffic`)
  const number = (name: string) => page.getByRole('spinbutton', { name, exact: true })
  const slider = (name: string) => page.getByRole('slider', { name: `Share of ${name} in percent` })
  await slider('production').focus()
  await page.keyboard.press('ArrowRight')
  await expect(number('production')).toHaveValue('61')
  await expect(number('next')).toHaveValue('39')

  await page.getByRole('combobox', { name: 'Another alias' }).selectOption('beta')
  await slider('beta').focus()
  await page.keyboard.press('End')
  await expect(number('production')).toHaveValue('0')
  await page.keyboard.press('Home')
  for (let step = 0; step < 10; step++) await page.keyboard.press('ArrowRight')
  const values = async () =>
    Promise.all(['production', 'next', 'Share of the other alias'].map((name) => number(name).inputValue()))
  const sum = (texts: string[]) => texts.reduce((all, text) => all + Number(text), 0)
  expect((await values())[2]).toBe('10')
  expect(sum(await values())).toBe(100)

  await number('next').fill('30')
  await number('next').blur()
  expect(sum(await values())).toBe(100)
  await expect(page.getByText('The shares add up to 100.')).toBeVisible()
  const shown = await values()
  await page.getByRole('button', { name: 'Save the shares' }).click()
  await expect(page.getByRole('status')).toContainText('Saved.')
  const stored = await (await appliance.asAdmin('GET', traffic)).json()
  expect(stored.weights.map(({ weight }: { weight: number }) => String(weight))).toEqual(shown)
})

test.describe('without scripts', () => {
  test.use({ javaScriptEnabled: false })

  test('shares that do not add up to 100 are refused with the reason', async ({ page, appliance }) => {
    const id = await publish(appliance)
    const domain = { projectId: id, hostname: 'split.localhost', alias: 'production' }
    const made = await (await appliance.asAdmin('POST', '/api/domains', domain)).json()
    await openAsAdmin(page, appliance, `/projects/${id}/domains/${made.id}/traffic`)
    await page.getByLabel('production', { exact: true }).fill('70')
    await page.getByLabel('next', { exact: true }).fill('20')
    await page.getByRole('button', { name: 'Save the shares' }).click()
    await expect(page.getByRole('alert')).toContainText('The weights add up to 90; they must add up to 100')
    await page.getByLabel('next', { exact: true }).fill('30')
    await page.getByRole('button', { name: 'Save the shares' }).click()
    await expect(page.getByRole('status')).toContainText('Saved.')
    await expect(page.getByLabel('production', { exact: true })).toHaveValue('70')
  })
})

test.describe('without scripts', () => {
  test.use({ javaScriptEnabled: false })

  test('a domain is checked by its button, and the page does not promise more', async ({
    page,
    appliance,
  }) => {
    const id = await publish(appliance)
    const domain = { projectId: id, hostname: 'www.nowhere.invalid', alias: 'production' }
    const made = await (await appliance.asAdmin('POST', '/api/domains', domain)).json()
    await openAsAdmin(page, appliance, `/projects/${id}/domains/${made.id}`)
    await expect(page.getByText('Not checked yet.')).toBeVisible()
    await expect(page.getByText('This page checks again automatically.')).toBeHidden()
    await page.getByRole('button', { name: 'Verify' }).click()
    await expect(page.getByText(/has no TXT record/)).toBeVisible()
  })
})

/** The interval of a domain's page. The test moves the page's clock forward instead of waiting. */
const LOOKS_EVERY_MS = 10_000

test('the page notices automatically that a domain is verified', async ({ page, appliance }) => {
  const id = await publish(appliance)
  const domain = { projectId: id, hostname: 'www.nowhere.invalid', alias: 'production' }
  const made = await (await appliance.asAdmin('POST', '/api/domains', domain)).json()
  await page.clock.install()
  await openAsAdmin(page, appliance, `/projects/${id}/domains/${made.id}`)
  await expect(page.getByText('This page checks again automatically.')).toBeVisible()
  await page.clock.fastForward(LOOKS_EVERY_MS)
  await expect(page.getByText('Not found.')).toBeVisible()
  await expect(page.getByText(/has no TXT record/)).toBeVisible()
  await appliance.asAdmin('POST', `/api/domains/${made.id}/verify`, { verified: true })
  await page.clock.fastForward(LOOKS_EVERY_MS)
  await expect(page.getByRole('status')).toContainText('The domain is verified and now serves.')
})

/** The log page announces new rows at most this often. */
const SAYS_EVERY_MS = 10_000

test('the tail follows new requests, and can be paused', async ({ page, appliance }) => {
  await page.clock.install()
  await openAsAdmin(page, appliance, '/admin/logs?path=/robots&place=all')
  await expect(page.getByRole('heading', { name: 'Nothing found' })).toBeVisible()
  await page.getByRole('button', { name: 'Follow live' }).click()
  await expect(page.getByText('Live: new requests appear at the top.').first()).toBeVisible()
  const come = () => fetch(`http://127.0.0.1:${appliance.port}/robots.txt`)
  const rows = page.getByRole('rowheader', { name: 'GET /robots.txt' })
  await come()
  await expect(rows).toHaveCount(1)
  await page.clock.fastForward(SAYS_EVERY_MS)
  await expect(page.getByText('One new request')).toBeAttached()
  await page.getByRole('button', { name: 'Pause' }).click()
  await come()
  await come()
  await expect(page.getByText(/^Paused\./).first()).toBeVisible()
  await expect(rows).toHaveCount(1)
  await page.getByRole('button', { name: 'Resume' }).click()
  await expect(rows).toHaveCount(3)

  // The page stays usable with any number of requests.
  for (let batch = 0; batch < 26; batch++) await Promise.all(Array.from({ length: 20 }, come))
  await expect(rows).toHaveCount(500)
})
