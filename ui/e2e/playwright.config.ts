import { existsSync } from 'node:fs'
import { defineConfig } from '@playwright/test'

const SHELL = '/usr/bin/chromium-headless-shell'
const installed = existsSync(SHELL) ? SHELL : '/usr/bin/chromium'

/** Journeys through the compiled executable; each test starts one of its own (appliance.ts). */
export default defineConfig({
  testDir: '.',
  testMatch: '*.e2e.ts',
  outputDir: '../../test-results',
  // A journey that passes the second time is a journey that fails.
  retries: 0,
  workers: 2,
  fullyParallel: true,
  forbidOnly: true,
  // A machine that runs other things beside it is slow, not wrong.
  timeout: 120_000,
  expect: { timeout: 15_000 },
  reporter: 'line',
  use: {
    browserName: 'chromium',
    locale: 'en-GB',
    timezoneId: 'UTC',
    screenshot: 'only-on-failure',
    launchOptions: {
      executablePath: process.env['SVC_CHROMIUM'] ?? installed,
      // Without a GPU there is none to imitate.
      args: ['--disable-gpu', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])],
    },
  },
})
