import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from '@playwright/test'
import type { Result, RunOptions } from 'axe-core'

/** The small one: the other takes longer to arrive in a page than to look at it. */
const SCRIPT = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

type Axe = {
  axe?: { run(context: string | Document, options: RunOptions): Promise<{ violations: Result[] }> }
}

/**
 * The faults of the open page, or of a part of it. The script stays in the document, so that another look at it in other
 * colours takes no more than its rules. What is in frames are sites of others, on origins of their own.
 */
export async function violationsOf(
  page: Page,
  { part, rules }: { part?: string; rules?: string[] } = {},
): Promise<Result[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(SCRIPT)
  const options: RunOptions = {
    iframes: false,
    // Selectors of all that is right take long.
    resultTypes: ['violations'],
    ...(rules === undefined ? {} : { runOnly: { type: 'rule', values: rules } }),
  }
  return page.evaluate(
    async ({ part, options }) => {
      const { axe } = window as Axe
      if (axe === undefined) throw new Error('axe is not in the page')
      return (await axe.run(part ?? document, options)).violations
    },
    { part, options },
  )
}

/** Those that must not be, in a line each. */
export const seriousFaults = (violations: Result[]): string[] =>
  violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`)
