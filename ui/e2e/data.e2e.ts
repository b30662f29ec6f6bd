import { expect, openAsAdmin, scripted, test, WITH_ADMIN } from './journey.ts'

test.use({ env: { ...WITH_ADMIN, RATE_LIMIT_API: '0' } })

for (const javaScriptEnabled of [true, false])
  test.describe(javaScriptEnabled ? 'with scripts' : 'without scripts', () => {
    test.use({ javaScriptEnabled })

    test('on a phone what is done with the chosen records stays in sight', async ({ page, appliance }) => {
      const send = async (path: string, json: unknown) => (await appliance.asAdmin('POST', path, json)).json()
      const { id: projectId } = await send('/api/projects', { owner: 'acme', name: 'website' })
      const fields = [{ name: 'name', type: 'string' }]
      const schema = await send('/api/schemas', { projectId, name: 'guests', fields })
      for (let at = 0; at < 20; at++) await send(`/api/schemas/${schema.id}/records`, { name: `Guest ${at}` })
      await page.setViewportSize({ width: 390, height: 844 })
      await openAsAdmin(page, appliance, `/projects/${projectId}/data/${schema.id}`)
      if (javaScriptEnabled) await scripted(page)
      const remove = page.getByRole('button', { name: /^Delete selected/ })
      if (javaScriptEnabled) await expect(remove).not.toBeInViewport()
      await page.getByLabel('Select Guest 17').check()
      await expect(remove).toBeInViewport({ ratio: 1 })
      await remove.click()
      await page.getByRole('button', { name: 'Delete the records' }).click()
      await expect(page.getByRole('heading', { name: '19 records' })).toBeVisible()
    })

    test('a schema is created, filled, searched, changed and deleted', async ({ page, appliance }) => {
      const { id } = await (
        await appliance.asAdmin('POST', '/api/projects', { owner: 'acme', name: 'website' })
      ).json()
      await openAsAdmin(page, appliance, `/projects/${id}/data`)
      await expect(page.getByRole('heading', { name: 'No schemas yet' })).toBeVisible()
      await page.getByRole('link', { name: 'New schema' }).click()

      await page.getByRole('textbox', { name: 'Name' }).first().fill('guests')
      const fieldAt = (at: number) => page.getByRole('group', { name: `Field ${at}`, exact: true })
      await fieldAt(1).getByLabel('Name').fill('1a')
      await page.getByRole('button', { name: 'Create schema' }).click()
      await expect(fieldAt(1).getByLabel('Name')).toHaveAccessibleDescription(/not begin with a digit/)
      await fieldAt(1).getByLabel('Name').fill('email')
      await fieldAt(1).getByLabel('Type').selectOption('email')
      await fieldAt(1).getByLabel('Required').check()
      await page.getByRole('button', { name: 'More fields' }).click()
      await expect(fieldAt(6)).toBeVisible()
      await expect(fieldAt(1).getByLabel('Required')).toBeChecked()
      await fieldAt(6).getByLabel('Name').fill('age')
      await fieldAt(6).getByLabel('Type').selectOption('integer')
      await page.getByRole('button', { name: 'Create schema' }).click()
      await expect(page.getByRole('status')).toContainText('The schema was created.')

      for (const [email, age] of [
        ['ann@example.com', '31'],
        ['ben@example.com', '47'],
        ['cleo@example.com', '52'],
      ] as const) {
        await page.getByRole('link', { name: 'New record' }).first().click()
        await page.getByLabel('email').fill(email)
        await page.getByLabel('age').fill(age)
        await page.getByRole('button', { name: 'Create record' }).click()
        await expect(page.getByRole('status')).toContainText('The record was created.')
        await page
          .getByRole('navigation', { name: 'Breadcrumb' })
          .getByRole('link', { name: 'guests' })
          .click()
      }

      await page.getByLabel('Field').selectOption('age')
      await page.getByLabel('Comparison').selectOption({ label: 'is at least' })
      await page.getByLabel('Value').fill('40')
      await page.getByRole('button', { name: 'Filter' }).click()
      await expect(page.getByRole('heading', { name: '2 records' })).toBeVisible()
      await page.getByRole('columnheader', { name: 'age' }).getByRole('link').click()
      await expect(page.getByRole('columnheader', { name: 'age' })).toHaveAttribute('aria-sort', 'ascending')
      await expect(page.getByRole('rowheader')).toHaveText(['ben@example.com', 'cleo@example.com'])
      const download = page.waitForEvent('download')
      await page.getByRole('link', { name: 'Export CSV' }).click()
      expect((await download).suggestedFilename()).toBe('guests.csv')

      await page.getByRole('link', { name: 'ben@example.com' }).click()
      await page.getByLabel('age').fill('18')
      await page.getByRole('button', { name: 'Save' }).click()
      await expect(page.getByRole('status')).toContainText('Saved.')
      // The script removes the message from the address, which would otherwise count as the way back.
      if (javaScriptEnabled) await scripted(page)
      await page.goBack()
      await page.goBack()
      await page.reload()
      await expect(page.getByRole('rowheader')).toHaveText(['cleo@example.com'])
      await page.getByRole('link', { name: 'age is at least 40: remove this filter' }).click()
      await expect(page.getByRole('heading', { name: '3 records' })).toBeVisible()

      for (const name of ['ann', 'ben']) await page.getByLabel(`Select ${name}@example.com`).check()
      if (javaScriptEnabled) {
        await page.getByLabel('Select all on this page').check()
        await expect(page.getByLabel('Select cleo@example.com')).toBeChecked()
        await page.getByLabel('Select cleo@example.com').uncheck()
        await expect(page.getByRole('button', { name: 'Delete selected (2)' })).toBeVisible()
      }
      await page.getByRole('button', { name: 'Delete selected' }).click()
      const question = page.getByRole('dialog', {
        name: javaScriptEnabled ? 'Delete 2 records?' : 'Delete the selected records?',
      })
      await question.getByRole('button', { name: 'Delete the records' }).click()
      await expect(page.getByRole('status')).toContainText('The selected records were deleted.')
      await expect(page.getByRole('rowheader')).toHaveText(['cleo@example.com'])

      await page.getByRole('link', { name: 'Edit schema' }).click()
      await page.getByRole('group', { name: 'age', exact: true }).getByLabel('Remove').check()
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByLabel('Yes, remove age from 1 record').check()
      await page.getByRole('button', { name: 'Save' }).click()
      await expect(page.getByRole('status')).toContainText('Saved.')
      await expect(page.getByRole('group', { name: 'age', exact: true })).toHaveCount(0)
      await page.getByLabel(/^Type .* to confirm$/).fill('guests')
      await page.getByRole('button', { name: 'Delete the schema' }).click()
      await expect(page.getByRole('status')).toContainText('The schema and its records were deleted.')
    })
  })

test('a phone shows the first six fields of records, and sorts them', async ({ page, appliance }) => {
  const made = await appliance.asAdmin('POST', '/api/projects', { owner: 'acme', name: 'website' })
  const { id: projectId } = await made.json()
  const fields = ['name', 'street', 'place', 'country', 'remark'].map((name) => ({ name, type: 'string' }))
  const schema = await appliance.asAdmin('POST', '/api/schemas', { projectId, name: 'visits', fields })
  const { id } = await schema.json()
  for (const name of ['Ann', 'Ben']) {
    const record = {
      name,
      street: 'A rather long street name 12',
      place: 'Oberdorf',
      remark: `${name} came late`,
    }
    await appliance.asAdmin('POST', `/api/schemas/${id}/records`, record)
  }
  await page.setViewportSize({ width: 390, height: 800 })
  await openAsAdmin(page, appliance, `/projects/${projectId}/data/${id}`)
  // By then the style is loaded too.
  await scripted(page)
  const list = page.getByRole('region', { name: 'Table of records' })
  expect(await list.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0)
  await expect(page.getByRole('cell', { name: 'Ben came late' })).toBeInViewport({ ratio: 1 })
  await expect(page.getByRole('rowheader')).toHaveText(['Ben', 'Ann'])
  await page.getByRole('columnheader', { name: 'name' }).getByRole('link').click()
  await expect(page.getByRole('rowheader')).toHaveText(['Ann', 'Ben'])
})

test('a file is highlighted in readable colours', async ({ page, appliance, folder }) => {
  const { id } = await (
    await appliance.asAdmin('POST', '/api/projects', { owner: 'acme', name: 'website' })
  ).json()
  const { key } = await (
    await appliance.asAdmin('POST', '/api/api-keys', { name: 'ci', projectId: id })
  ).json()
  const site = folder({ 'index.html': '<!-- a note --><p class="x">Hello</p>' })
  const where = ['--api-url', appliance.url, '--project', 'acme/website', '--sha', 'aaaaaaaaaaaaaaaa']
  await appliance.svc(['deploy', site, ...where], { SVC_API_KEY: key })
  await openAsAdmin(page, appliance, `/projects/${id}/deployments`)
  await page.getByRole('link', { name: '#1', exact: true }).click()
  await page.getByRole('link', { name: 'Files' }).click()
  await page.getByRole('link', { name: 'index.html' }).click()
  const content = page.getByRole('group', { name: 'Content' })
  await expect(content).toHaveText('<!-- a note --><p class="x">Hello</p>')
  const colourOf = (text: string) =>
    content.getByText(text, { exact: true }).evaluate((element) => getComputedStyle(element).color)
  const colours = () => Promise.all(['<!-- a note -->', 'class', '"x"'].map(colourOf))
  await expect.poll(async () => new Set(await colours()).size).toBe(3)
})
