import { defineConfig } from '@playwright/test'
import journeys from '../../ui/e2e/playwright.config.ts'

/** As the journeys, one after the other: pictures are no test of speed. */
export default defineConfig(journeys, {
  testDir: '.',
  testMatch: '*.shots.ts',
  outputDir: '../../test-results/shots',
  workers: 1,
  timeout: 1_800_000,
  fullyParallel: false,
})
