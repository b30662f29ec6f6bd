import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from '@playwright/test'
import { ADMIN, startAppliance } from './appliance.ts'

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1')
const OLD_PAGE = '<!doctype html><meta charset="iso-8859-1"><title>Gr\u00fc\u00dfe</title>'

test('pages that are not in UTF-8 read right, and a script that was stored compressed runs', async ({
  page,
}) => {
  const app = await startAppliance({ ADMIN_EMAIL: ADMIN.email, ADMIN_PASSWORD: ADMIN.password })
  const folder = mkdtempSync(join(tmpdir(), 'svc-old-'))
  try {
    mkdirSync(join(folder, 'sub'))
    writeFileSync(join(folder, 'index.html'), latin1(`${OLD_PAGE}<h1>Gr\u00fc\u00dfe aus K\u00f6ln</h1>`))
    writeFileSync(join(folder, '404.html'), latin1(`${OLD_PAGE}<h1>Nicht gefunden, sch\u00f6nen Tag</h1>`))
    writeFileSync(join(folder, 'sub/new.html'), '<!doctype html><h1>Grüße in UTF-8</h1>')
    writeFileSync(
      join(folder, 'sub/wide.html'),
      Buffer.from('\ufeff<!doctype html><h1>Breite Grüße</h1>', 'utf16le'),
    )
    writeFileSync(join(folder, 'sub/js.html'), '<!doctype html><h1>still</h1><script src="a.js.gz"></script>')
    writeFileSync(join(folder, 'sub/a.js.gz'), gzipSync('document.querySelector("h1").textContent = "ran"'))
    const key = (await app.svc(['key', 'create', 'e2e', '--data-dir', '.'])).output.trim()
    const connection = { SVC_API_URL: app.url, SVC_API_KEY: key }
    const args = [
      'deploy',
      folder,
      '--project',
      'acme/old',
      '--sha',
      'a'.repeat(40),
      '--alias',
      'production',
      '--public',
    ]
    expect((await app.svc(args, connection)).exitCode).toBe(0)

    const site = `http://production--old--acme.localhost:${app.port}`
    const headings: [path: string, heading: string][] = [
      ['/', 'Grüße aus Köln'],
      ['/index.html', 'Grüße aus Köln'],
      ['/nothing', 'Nicht gefunden, schönen Tag'],
      ['/sub/new', 'Grüße in UTF-8'],
      ['/sub/wide', 'Breite Grüße'],
      ['/sub/js', 'ran'],
    ]
    for (const [path, heading] of headings) {
      await page.goto(`${site}${path}`)
      await expect(page.getByRole('heading')).toHaveText(heading)
    }
    await page.goto(`${site}/`)
    expect(await page.title()).toBe('Grüße')
  } finally {
    rmSync(folder, { recursive: true })
    await app.stop()
  }
})
