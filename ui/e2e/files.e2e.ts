import { readFileSync } from 'node:fs'
import type { Appliance } from './appliance.ts'
import { seedFiles } from './file-seed.ts'
import { expect, openAsAdmin, siteTest, test, WITH_ADMIN } from './journey.ts'

test.use({ env: { ...WITH_ADMIN, RATE_LIMIT_API: '0' } })

async function site(appliance: Appliance, folder: (files: Record<string, string>) => string) {
  const send = async (path: string, json: unknown) => (await appliance.asAdmin('POST', path, json)).json()
  const { id } = await send('/api/projects', { owner: 'acme', name: 'website', isPublic: true })
  const { key } = await send('/api/api-keys', { name: 'ci', projectId: id })
  const where = ['--api-url', appliance.url, '--project', 'acme/website', '--alias', 'production']
  await appliance.svc(['deploy', folder({ 'index.html': 'hi' }), ...where, '--sha', 'a'.repeat(16)], {
    SVC_API_KEY: key,
  })
  return { id: id as string, ids: await seedFiles(appliance, id) }
}

siteTest.use({ env: { ...WITH_ADMIN, RATE_LIMIT_API: '0' } })

siteTest(
  'an uploaded page or drawing runs nothing on the site that serves it',
  async ({ page, appliance, folder }) => {
    const { id } = await site(appliance, folder)
    await appliance.asAdmin('POST', `/api/proxy-rules/project/${id}`, {
      ...{ pathPattern: '/api/uploads/*', method: 'GET', proxyType: 'pipeline' },
      pipelineConfig: {
        steps: [{ id: 'file', handlerType: 'file_serve_handler', config: { subDir: 'pictures' } }],
      },
    })
    const origin = `http://production--website--acme.localhost:${appliance.port}`
    await page.context().addCookies([{ name: 'own', value: 'secret', url: origin }])
    for (const path of ['notes/page.html', 'drawing.svg']) {
      const answer = await page.goto(`${origin}/api/uploads/pictures/${path}`)
      expect([answer?.status(), answer?.headers()['content-security-policy']]).toEqual([200, 'sandbox'])
      expect(await page.title()).not.toBe('ran')
      expect(await page.evaluate(() => self.origin)).toBe('null')
    }
  },
)

for (const javaScriptEnabled of [true, false])
  test.describe(javaScriptEnabled ? 'with scripts' : 'without scripts', () => {
    test.use({ javaScriptEnabled })

    test('files are found, looked at, downloaded and deleted', async ({ page, appliance, folder }) => {
      const { id } = await site(appliance, folder)
      await openAsAdmin(page, appliance, `/projects/${id}/data`)
      await page.getByRole('link', { name: 'Files', exact: true }).click()
      await page.getByRole('link', { name: 'pictures' }).click()
      await page.getByRole('link', { name: 'a.png', exact: true }).click()
      const picture = page.getByRole('img', { name: 'a.png' })
      await expect(picture).toBeVisible()
      expect(await picture.evaluate((img: HTMLImageElement) => [img.complete, img.naturalWidth])).toEqual([
        true,
        1,
      ])
      const download = page.waitForEvent('download')
      await page.getByRole('link', { name: 'Download', exact: true }).click()
      const got = await download
      expect([got.suggestedFilename(), readFileSync(await got.path()).length > 60]).toEqual(['a.png', true])

      await page.getByRole('button', { name: 'Delete this file' }).click()
      await page.getByRole('button', { name: 'Delete the file' }).click()
      await expect(page.getByRole('status')).toContainText('The file was deleted.')

      await page.getByLabel('Path begins with').fill('pictures/notes/p')
      await page.getByRole('button', { name: 'Search', exact: true }).last().click()
      await page.getByRole('link', { name: 'pictures/notes/page.html', exact: true }).click()
      await expect(page.getByText('<script>document.title')).toBeVisible()
      await page.getByRole('link', { name: 'notes' }).click()
      await page.getByRole('button', { name: 'Delete this folder' }).click()
      await expect(page.getByText(/^2 files with 3\.0.KB are deleted/)).toBeVisible()
      await page.getByRole('button', { name: 'Delete 2 files' }).click()
      await expect(page.getByRole('status')).toContainText('The folder was deleted.')
      await expect(page.getByRole('link', { name: 'notes' })).toHaveCount(0)
      await expect(page.getByRole('link', { name: 'sound.mp3', exact: true })).toBeVisible()
    })
  })
