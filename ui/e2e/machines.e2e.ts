import { createHash } from 'node:crypto'
import { MACHINE_HEADER, machineKeys, signMachine } from '../../src/server/machines/machine-header.ts'
import { type Appliance, runSvc } from './appliance.ts'
import { seriousFaults, violationsOf } from './axe.ts'
import { test as base, expect, signIn, WITH_ADMIN } from './journey.ts'
import { startObjectStore } from './object-store.ts'

const NODE_SECRET = 'e2e secret of the machines, 32 characters'

const test = base.extend({
  env: async ({ browserName: _ }, use) => {
    const store = await startObjectStore()
    const made = await runSvc(['store', 'init'], store.env)
    if (made.exitCode !== 0) throw new Error(made.output)
    const machine = { MACHINE_NAME: 'one', MACHINE_URL: 'http://10.0.0.1:8080', NODE_SECRET }
    await use({ ...store.env, ...machine, ...WITH_ADMIN })
    await store.stop()
  },
})

/** As another machine does every 10 seconds. */
async function report({ plainPort }: Appliance, more: Record<string, unknown>): Promise<void> {
  const machine = {
    ...{ name: 'two', role: 'standby', url: 'http://10.0.0.2:8080', version: '0.0.1', epoch: 1, number: 3 },
    ...{ lagMs: 0, cacheBytes: 5e6, cacheHits: 9, cacheMisses: 1, ...more },
  }
  const body = JSON.stringify({ machine, batch: JSON.stringify(more), rows: [], dropped: 0 })
  const target = `/_svc/machine?sha256=${createHash('sha256').update(body).digest('hex')}`
  const request = { at: Date.now(), method: 'POST', target }
  const headers = { [MACHINE_HEADER]: signMachine(machineKeys(NODE_SECRET), machine.name, request) }
  const answer = await fetch(`http://127.0.0.1:${plainPort}${target}`, { method: 'POST', headers, body })
  expect(answer.status).toBe(204)
}

test('the machines of a workspace are shown as they are, without a reload', async ({ page, appliance }) => {
  await page.goto(`${appliance.url}/admin/machines`)
  await signIn(page)
  const warnings = page.getByRole('status')
  await expect(warnings).toContainText('No stand-by follows one')
  await expect(page.getByText('s3://bucket/workspace')).toBeVisible()
  await expect(page.getByRole('img', { name: /follow there/ })).toHaveCount(0)

  await report(appliance, { lagMs: 9_000 })
  await expect(page.getByRole('rowheader', { name: 'two' })).toBeVisible({ timeout: 15_000 })
  await expect(warnings).toContainText('two is 9 s behind')
  await expect(warnings).not.toContainText('No stand-by')
  await expect(
    page.getByRole('img', { name: 'one writes into s3://bucket/workspace, and two follow there.' }),
  ).toBeVisible()

  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    const violations = await violationsOf(page)
    expect(seriousFaults(violations)).toEqual([])
  }
  await page.setViewportSize({ width: 390, height: 800 })
  expect(
    await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth),
  ).toBeLessThanOrEqual(0)
})

test.describe('without scripts', () => {
  test.use({ javaScriptEnabled: false })

  test('the machines are shown as of the request', async ({ page, appliance }) => {
    await report(appliance, { role: 'node' })
    await page.goto(`${appliance.url}/admin/machines`)
    await signIn(page)
    await expect(page.getByRole('rowheader', { name: 'two' })).toBeVisible()
    await expect(page.getByRole('cell', { name: 'Node' })).toBeVisible()
  })
})
