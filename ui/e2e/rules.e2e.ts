import type { Page } from '@playwright/test'
import { seriousFaults, violationsInBothThemes } from './axe.ts'
import { type Appliance, expect, openAsAdmin, scripted, test, WITH_ADMIN } from './journey.ts'
import { pageOf, publishWebsite } from './publish-website.ts'

test.use({ env: WITH_ADMIN })
// Even without scripts, a journey posts more forms in a minute than people do.
test.setTimeout(120_000)

const publish = (appliance: Appliance): Promise<string> =>
  publishWebsite(appliance, { 'index.html': pageOf('Home'), 'new/index.html': pageOf('New') })

const rulesOf = (page: Page) =>
  page.getByRole('list', { name: 'Rules of the project' }).getByRole('listitem').getByRole('link')

const makeRewrites = async (appliance: Appliance, id: string, patterns: string[]) => {
  for (const pathPattern of patterns)
    await appliance.asAdmin('POST', `/api/proxy-rules/project/${id}`, {
      pathPattern,
      proxyType: 'internal_rewrite',
      targetUrl: '/new/',
    })
}

const PIPELINE = `pathPattern: /api/greet
methods: [POST]
debugEnabled: true
pipeline:
  name: greet
  steps:
    - id: form
      handler: form_handler
      config: { fields: { name: { type: string, required: true } } }
    - id: answer
      handler: response_handler
      config: { body: '{"hello":"{{steps.form.name}}"}' }
`

for (const javaScriptEnabled of [true, false])
  test.describe(javaScriptEnabled ? 'with scripts' : 'without scripts', () => {
    test.use({ javaScriptEnabled })

    test('a rule is created, tested, moved, edited and deleted', async ({ page, appliance }) => {
      const id = await publish(appliance)
      await openAsAdmin(page, appliance, `/projects/${id}`)
      await page.getByRole('link', { name: 'Rules', exact: true }).click()
      await expect(page.getByRole('heading', { name: 'No rules yet' })).toBeVisible()
      await page.getByLabel('Path').fill('/api/*')
      await page.getByLabel('Server').fill('https://127.0.0.1')
      await page.getByRole('button', { name: 'Create rule' }).click()
      await expect(page.getByLabel('Target')).toHaveAccessibleDescription(/not a public address/)

      await page
        .getByLabel('Kind')
        .selectOption({ label: 'Rewrite: answer with another path of the deployment' })
      await page.getByLabel('Path', { exact: true }).fill('/old/*')
      await page.getByLabel('Target').fill('/new/')
      await page.getByRole('button', { name: 'Create rule' }).click()
      await expect(page.getByRole('status').first()).toContainText('The rule was created and is live.')

      await page.getByRole('link', { name: 'Test', exact: true }).click()
      await page.getByRole('button', { name: 'Test' }).click()
      const trace = page.getByRole('list', { name: 'What is decided, in order' })
      await expect(trace.getByRole('link', { name: /^any method \/old\/\*/ })).toBeVisible()
      await page.getByRole('link', { name: '/old/*', exact: true }).click()

      await makeRewrites(appliance, id, ['/second'])
      await page.getByRole('link', { name: 'Rules', exact: true }).first().click()
      await expect(rulesOf(page)).toHaveText(['/old/*', '/second'])
      if (javaScriptEnabled) await scripted(page)
      await page.getByRole('button', { name: 'Move up: /second' }).click()
      await expect(rulesOf(page)).toHaveText(['/second', '/old/*'])
      if (javaScriptEnabled) await expect(page.getByText('/second is now number 1 of 2.')).toBeAttached()
      else await expect(page.getByRole('status').first()).toContainText('The order was saved.')
      await expect
        .poll(async () => {
          const { rules } = await (await appliance.asAdmin('GET', `/api/proxy-rules/project/${id}`)).json()
          return rules.map(({ pathPattern }: { pathPattern: string }) => pathPattern)
        })
        .toEqual(['/second', '/old/*'])

      await page.getByRole('link', { name: '/old/*' }).click()
      await page.getByRole('link', { name: 'Edit' }).click()
      await page.getByLabel('Kind').selectOption({ label: 'Proxy: forward the request to a server' })
      await page.getByLabel('Target').fill('https://api.example.com')
      await page.getByLabel(/^New header 1/).fill('x-key')
      await page.getByLabel('Value of new header 1').fill('s3cret')
      await page.getByRole('button', { name: 'Save rule' }).click()
      await expect(page.getByRole('status').first()).toContainText('Saved.')
      await expect(page.getByText('x-key')).toBeVisible()
      await page.getByRole('link', { name: 'Edit' }).click()
      await expect(page.getByLabel('Value of x-key', { exact: true })).toHaveValue('keep')
      expect(await page.content()).not.toContain('s3cret')
      await page.getByRole('link', { name: 'Cancel' }).click()

      await page.getByRole('button', { name: 'Disable' }).click()
      await expect(page.getByText('Disabled')).toBeVisible()
      await page.getByRole('button', { name: 'Delete this rule' }).click()
      const question = page.getByRole('dialog', { name: 'Delete /old/*?' })
      await question.getByRole('button', { name: 'Delete the rule' }).click()
      await expect(page.getByRole('status').first()).toContainText('The rule was deleted.')
    })

    test('a pipeline is written, run and looked at', async ({ page, appliance }) => {
      const id = await publish(appliance)
      await openAsAdmin(page, appliance, `/projects/${id}/rules/new?kind=pipeline`)
      await expect(page.getByLabel('Target')).toBeHidden()
      await expect(page.getByLabel('Path', { exact: true })).toBeHidden()
      await page.getByRole('combobox', { name: 'Start from an example' }).selectOption('Count')
      await page.getByRole('button', { name: 'Insert' }).click()
      const text = page.getByRole('textbox', { name: 'Rule (YAML)' })
      await expect(text).toHaveValue(/operation: count/)
      if (javaScriptEnabled) await scripted(page)
      await text.fill('pathPattern: /api/greet\npipeline:\n  steps: [{}]\n')
      if (javaScriptEnabled)
        await expect(text).toHaveAccessibleDescription(/Line 3: .*steps\[0\].*is required/)
      await page.getByRole('button', { name: 'Create rule' }).click()
      await expect(text).toHaveAccessibleDescription(/Line 3: .*steps\[0\].*is required/)
      await expect(text).toHaveValue(/steps: \[\{\}\]/)
      await text.fill(PIPELINE)
      if (javaScriptEnabled) await expect(text).toHaveAccessibleDescription('')
      await page.getByRole('button', { name: 'Create rule' }).click()
      await expect(page.getByRole('heading', { name: 'greet', exact: true })).toBeVisible()
      await expect(page.getByRole('list', { name: 'Steps' }).getByRole('listitem')).toHaveCount(2)

      const greet = (json: unknown) =>
        fetch(`http://127.0.0.1:${appliance.port}/public/acme/website/production/api/greet`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(json),
        })
      expect(await (await greet({ name: 'Ann' })).json()).toEqual({ hello: 'Ann' })
      expect((await greet({})).status).toBe(400)
      await page.reload()
      await page.getByRole('link', { name: 'All runs' }).click()
      await expect(page.getByRole('rowheader')).toHaveCount(2)
      await page.getByLabel('Outcome').selectOption({ label: 'Answered: below 400' })
      await page.getByRole('button', { name: 'Filter' }).click()
      await expect(page.getByRole('rowheader')).toHaveCount(1)
      await page.getByRole('link', { name: 'POST /api/greet' }).last().click()
      await expect(page.getByRole('group', { name: 'Output of answer' })).toContainText('Ann')
    })

    test('four answers make a contact form', async ({ page, appliance }) => {
      const id = await publish(appliance)
      await openAsAdmin(page, appliance, `/projects/${id}/rules/new?form=contact`)
      await page.getByRole('textbox', { name: 'Path' }).fill('contact')
      await page.getByRole('button', { name: 'Create rule' }).click()
      await expect(page.getByRole('textbox', { name: 'Path' })).toHaveAccessibleDescription(/Enter a path/)
      await page.getByRole('textbox', { name: 'Path' }).fill('/api/contact')
      await page.getByRole('textbox', { name: 'Then go to' }).fill('/new/')
      await expect(page.getByRole('textbox', { name: 'Fields' })).toHaveValue('name, email, message')
      await expect(page.getByRole('textbox', { name: 'Store in' })).toHaveValue('messages')
      await page.getByRole('button', { name: 'Show the YAML' }).click()
      await expect(page.getByText('location: /new/')).toBeVisible()
      await page.getByRole('button', { name: 'Create rule' }).click()
      await expect(page.getByRole('status').first()).toContainText('The rule was created and is live.')

      const send = (fields: Record<string, string>) =>
        fetch(`http://127.0.0.1:${appliance.port}/public/acme/website/production/api/contact`, {
          method: 'POST',
          redirect: 'manual',
          body: new URLSearchParams({ name: 'Ann', email: 'ann@example.com', message: 'Hi', ...fields }),
        })
      await send({ website: 'https://spam.example' })
      const answer = await send({ website: '' })
      expect([answer.status, answer.headers.get('location')]).toEqual([303, expect.stringContaining('/new/')])
      await page.getByRole('link', { name: 'Data', exact: true }).click()
      await page.getByRole('link', { name: 'messages' }).click()
      await expect(page.getByText('ann@example.com')).toHaveCount(1)
    })

    test('a rule of the repository is unlocked, and its set attached', async ({ page, appliance }) => {
      const id = await publish(appliance)
      await appliance.asAdmin('PUT', `/api/proxy-rule-sets/project/${id}/sync`, {
        ruleSet: { name: 'book' },
        rules: [{ pathPattern: '/book/*', targetUrl: '/new/' }],
        source: { repo: 'acme/website', gitSha: 'c0ffee1234567890', path: '.svc/proxy-rules/book' },
      })
      await openAsAdmin(page, appliance, `/projects/${id}/rules`)
      await expect(page.getByText('Managed by the repository acme/website')).toBeVisible()
      await page.getByRole('link', { name: '/book/*' }).click()
      await expect(page.getByRole('link', { name: 'Edit' })).toHaveCount(0)
      await page.getByRole('button', { name: 'Edit it here anyway' }).click()
      const question = page.getByRole('dialog', { name: 'Edit it here, not in the repository?' })
      await question.getByRole('button', { name: 'Unlock this rule' }).click()
      await page.getByRole('link', { name: 'Edit' }).click()
      await page.getByLabel('Description').fill('Changed here')
      await page.getByRole('button', { name: 'Save rule' }).click()
      await expect(page.getByText('Changed here')).toBeVisible()

      await page.getByRole('link', { name: 'Rules', exact: true }).first().click()
      await page.getByLabel('Show rules for').selectOption({ label: 'production' })
      await page.getByRole('button', { name: 'Show' }).click()
      await page.getByLabel('Attach a rule set').selectOption({ label: 'book: now on every site' })
      await page.getByRole('button', { name: 'Attach' }).click()
      const card = page.getByRole('region', { name: 'Only on production' })
      await expect(card.getByRole('link', { name: '/book/*' })).toBeVisible()
      await page.getByRole('button', { name: 'Detach book' }).click()
      await expect(page.getByRole('heading', { name: 'Not live' })).toBeVisible()
      await page.getByRole('link', { name: 'book', exact: true }).click()
      await page.getByRole('button', { name: 'Make it live on every site' }).click()
      await expect(page.getByText('Every site of the project', { exact: true })).toBeVisible()
    })
  })

test('rules are reordered by keyboard and by drag', async ({ page, appliance }) => {
  const id = await publish(appliance)
  await makeRewrites(appliance, id, ['/a', '/b', '/c'])
  const stored = async () => {
    const { rules } = await (await appliance.asAdmin('GET', `/api/proxy-rules/project/${id}`)).json()
    return rules.map(({ pathPattern }: { pathPattern: string }) => pathPattern)
  }
  await openAsAdmin(page, appliance, `/projects/${id}/rules`)

  const grip = page.getByRole('button', { name: 'Reorder /a' })
  await grip.focus()
  await page.keyboard.press('ArrowDown')
  await expect(rulesOf(page)).toHaveText(['/b', '/a', '/c'])
  await expect(grip).toBeFocused()
  await page.keyboard.press('End')
  await expect(page.getByText('/a is now number 3 of 3.')).toBeAttached()
  await expect.poll(stored).toEqual(['/b', '/c', '/a'])
  await page.keyboard.press('Home')
  await expect.poll(stored).toEqual(['/a', '/b', '/c'])
  await expect(page.getByRole('button', { name: 'Move up: /a' })).toBeDisabled()

  const [from, to] = await Promise.all([
    page.getByRole('button', { name: 'Reorder /c' }).boundingBox(),
    page.getByRole('button', { name: 'Reorder /a' }).boundingBox(),
  ])
  if (from === null || to === null) throw new Error('a rule has no handle')
  await page.mouse.move(from.x + 5, from.y + 5)
  await page.mouse.down()
  await page.mouse.move(to.x + 5, to.y, { steps: 8 })
  await page.mouse.up()
  await expect(rulesOf(page)).toHaveText(['/c', '/a', '/b'])
  await expect.poll(stored).toEqual(['/c', '/a', '/b'])
  await page.reload()
  await expect(rulesOf(page)).toHaveText(['/c', '/a', '/b'])
})

test('the trace and a refused form are accessible', async ({ page, appliance }) => {
  const id = await publish(appliance)
  await makeRewrites(appliance, id, ['/a', '/b'])
  const inBothThemes = async () => {
    // By then the style is loaded too.
    await scripted(page)
    expect(seriousFaults(await violationsInBothThemes(page))).toEqual([])
  }
  await openAsAdmin(page, appliance, `/projects/${id}/rules/test`)
  await page.getByLabel('Path').fill('/b')
  await page.getByRole('button', { name: 'Test' }).click()
  await expect(page.getByText('Matches', { exact: true })).toBeVisible()
  await inBothThemes()
  await page.goto(`${appliance.url}/projects/${id}/rules/new`)
  await page.getByLabel('Path').fill('nothing')
  await page.getByRole('button', { name: 'Create rule' }).click()
  await expect(page.getByRole('alert').first()).toBeVisible()
  await inBothThemes()
})

test('errors are shown while somebody types', async ({ page, appliance }) => {
  const id = await publish(appliance)
  await openAsAdmin(page, appliance, `/projects/${id}/rules/new`)
  await scripted(page)
  await page.getByLabel('Path').fill('api')
  await expect(page.getByLabel('Path')).toHaveAccessibleDescription(/begin with \/ or \*/)
  await expect(page.getByLabel('Path')).toHaveAttribute('aria-invalid', 'true')
  await expect(page.getByLabel('Target')).not.toHaveAttribute('aria-invalid')
  await page.getByLabel('Path').fill('/api')
  await expect(page.getByLabel('Path')).not.toHaveAttribute('aria-invalid')
})
