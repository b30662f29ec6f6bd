import { expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WalkedMachines } from '../testing/walked-machines.ts'

/** The browser tests of publishing and signing in, through HAProxy, while the machines behind it are restarted one after the other. */

const ROOT = join(import.meta.dir, '..', '..')
const JOURNEYS = ['sign-in', 'private-site', 'publish', 'publish-drop'].map((name) => `${name}.e2e.ts`)

test('journeys in the browser go on while one machine after the other is restarted', async () => {
  const work = mkdtempSync(join(tmpdir(), 'svc-work-'))
  const restarts = join(work, 'restarts')
  const machines = new WalkedMachines()
  try {
    await machines.makeReader()
    const browser = Bun.spawn(
      [
        ...['node_modules/.bin/playwright', 'test', '--config', 'ui/e2e/playwright.config.ts'],
        // Each begins with a workspace and four machines.
        ...['--workers', '1', '--timeout', '600000'],
        ...JOURNEYS.map((name) => `/${name}`),
      ],
      {
        cwd: ROOT,
        env: {
          ...process.env,
          SVC_E2E_MACHINES: '1',
          SVC_E2E_RESTARTS: restarts,
          SVC_TEST_EXECUTABLE: join(ROOT, 'dist', 'svc'),
          SVC_EXECUTABLE: join(ROOT, 'dist', 'svc'),
          SVC_BUN: process.execPath,
        },
        stdio: ['ignore', 'inherit', 'inherit'],
      },
    )
    expect(await browser.exited).toBe(0)
    const restarted = readFileSync(restarts, 'utf8').trim().split('\n')
    const primaries = restarted.filter((line) => line.endsWith('primary'))
    console.log(`${restarted.length} machines were restarted, ${primaries.length} of them as the primary`)
    for (const name of ['a', 'b', 'c', 'd'])
      expect(restarted.some((line) => line.startsWith(name))).toBe(true)
    expect(primaries.length).toBeGreaterThan(1)
  } finally {
    await machines.end()
    rmSync(work, { recursive: true })
  }
}, 1_800_000)
