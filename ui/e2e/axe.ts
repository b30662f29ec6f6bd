import AxeBuilder from '@axe-core/playwright'
import type { Page } from '@playwright/test'

/**
 * The check of accessibility of a page: within the page, not in a second one for its results, and without selectors of all
 * that is right, which takes a third of the time and finds the same.
 */
export const axe = (page: Page): AxeBuilder =>
  new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] })
