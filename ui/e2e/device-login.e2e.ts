import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from '@playwright/test'
import { ADMIN, EXECUTABLE } from './appliance.ts'
import { expect, test, WITH_ADMIN } from './journey.ts'

test.use({ env: WITH_ADMIN })

/** Presses Tab until the focus is on the button of that name, as somebody without a mouse does. */
async function tabTo(page: Page, name: string): Promise<void> {
  const button = page.getByRole('button', { name })
  for (let at = 0; at < 20; at++) {
    await page.keyboard.press('Tab')
    if (await button.evaluate((element) => element === document.activeElement)) return
  }
  throw new Error(`Tab does not reach "${name}"`)
}

/** The lines that the command prints, one after the other. */
function linesOf(child: ChildProcess): () => Promise<string> {
  let text = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    text += chunk.toString()
  })
  return async () => {
    while (!text.includes('\n')) await once(child.stdout ?? child, 'data')
    const at = text.indexOf('\n')
    const line = text.slice(0, at)
    text = text.slice(at + 1)
    return line
  }
}

test('svc login is approved by keyboard alone, works, and is ended on the account', async ({
  page,
  appliance,
}) => {
  const home = mkdtempSync(join(tmpdir(), 'svc-login-'))
  const env = { XDG_CONFIG_HOME: home, SVC_API_URL: appliance.url, PATH: process.env['PATH'] ?? '' }
  const login = spawn(EXECUTABLE, ['login', '--json', '--no-browser'], { cwd: home, env })
  const nextLine = linesOf(login)
  try {
    const { userCode, verificationUri } = JSON.parse(await nextLine())
    await page.goto(verificationUri)
    await expect(page.getByLabel('Email')).toBeFocused()
    await page.keyboard.type(ADMIN.email)
    await page.keyboard.press('Tab')
    await expect(page.getByLabel('Password')).toBeFocused()
    await page.keyboard.type(ADMIN.password)
    await page.keyboard.press('Enter')

    await expect(page.getByLabel('Code')).toBeFocused()
    await page.keyboard.type(userCode.toLowerCase().replace('-', ' '))
    await page.keyboard.press('Enter')
    await expect(page.getByRole('heading', { name: 'Let the command line in?' })).toBeVisible()
    await expect(page.getByText(userCode)).toBeVisible()
    await tabTo(page, 'Let it in')
    await page.keyboard.press('Enter')
    await expect(page.getByRole('heading', { name: 'It is let in' })).toBeVisible()

    const { email, file } = JSON.parse(await nextLine())
    expect([email, file]).toEqual([ADMIN.email, join(home, 'svc', 'credentials.json')])
    expect(readFileSync(file, 'utf8')).toContain('svcp_')
    const made = await appliance.asAdmin('POST', '/api/projects', { owner: 'acme', name: 'docs' })
    expect(made.status).toBe(201)
    const list = () => appliance.svc(['list', '--project', 'acme/docs', '--json'], env)
    expect(await list()).toEqual({ exitCode: 0, output: '{\n  "deployments": []\n}\n' })

    await page.goto(`${appliance.url}/account`)
    const row = page.getByRole('row').filter({ hasText: 'Command line' })
    await row.getByRole('button', { name: 'Revoke' }).focus()
    await page.keyboard.press('Enter')
    await expect(page.getByRole('status')).toContainText('The session was revoked.')
    expect((await list()).exitCode).toBe(1)
  } finally {
    login.kill()
    rmSync(home, { recursive: true, force: true })
  }
})
