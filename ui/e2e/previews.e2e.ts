import { expect, signIn, test, WITH_ADMIN } from './journey.ts'

test.use({ env: WITH_ADMIN })

const SITE = '<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>Hi</title><h1>Draft</h1>'

for (const javaScriptEnabled of [true, false])
  test.describe(javaScriptEnabled ? 'with scripts' : 'without scripts', () => {
    test.use({ javaScriptEnabled })

    test('previews are extended, kept and ended', async ({ page, appliance }) => {
      const make = async (path: string, json: unknown) => (await appliance.asAdmin('POST', path, json)).json()
      const { id } = await make('/api/projects', { owner: 'acme', name: 'website', isPublic: true })
      const { key } = await make('/api/api-keys', { name: 'ci', projectId: id })
      const publish = async (preview: string, commitSha: string) => {
        const body = new FormData()
        const fields = { repository: 'acme/website', commitSha, preview, pullRequest: '12' }
        for (const [name, value] of Object.entries(fields)) body.append(name, value)
        body.append('file', new File([SITE], 'index.html'))
        const answer = await fetch(`${appliance.url}/api/deployments`, {
          method: 'POST',
          headers: { 'x-api-key': key },
          body,
        })
        return (await answer.json()).alias.url as string
      }
      const url = await publish('pr-12', 'aaaaaaaaaaaaaaaa')
      await publish('pr-13', 'bbbbbbbbbbbbbbbb')

      await page.goto(`${appliance.url}/projects/${id}`)
      await signIn(page)
      await expect(page.getByRole('heading', { name: 'Previews' })).toBeVisible()
      await page.getByRole('button', { name: 'Extend pr-12 by 7 days' }).click()
      await expect(page.getByRole('status')).toContainText('The preview ends later.')
      await page.getByRole('button', { name: 'Keep pr-13: it never ends' }).click()
      await expect(page.getByRole('status')).toContainText('The alias stays')
      await expect(page.getByRole('button', { name: /pr-13/ })).toHaveCount(0)

      await page.getByRole('link', { name: 'pr-12', exact: true }).first().click()
      await expect(page.getByRole('heading', { name: 'End', exact: true })).toBeVisible()
      await page.getByRole('button', { name: 'End now: pr-12' }).click()
      await page
        .getByRole('dialog', { name: 'End pr-12?' })
        .getByRole('button', { name: 'End the preview' })
        .click()
      await expect(page.getByRole('status')).toContainText('The preview has ended.')
      await expect(page.getByRole('link', { name: 'pr-12', exact: true })).toHaveCount(0)
      expect((await page.goto(url))?.status()).toBe(404)

      await page.goto(`${appliance.url}/projects/${id}/settings`)
      await page.getByLabel('Days a preview stays').fill('30')
      await page.getByRole('button', { name: 'Save', exact: true }).first().click()
      await expect(page.getByRole('status')).toContainText('Saved.')
      await expect(page.getByLabel('Days a preview stays')).toHaveValue('30')
    })
  })
