import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from '@playwright/test'
import type { Result, RunOptions } from 'axe-core'
import { rounds } from '../../src/testing/rounds.ts'

/** The small one: the other takes longer to arrive in a page than to look at it. */
const SCRIPT = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

type Looked = Document | { include: string[][] }
type Axe = { axe?: { run(at: Looked, options: RunOptions): Promise<{ violations: Result[] }> } }

type Asked = {
  /** Selectors; without them the whole page. */
  parts?: string[]
  /** Rules, or tags of rules. */
  only?: string[]
}

/** The faults of the open page. What is in frames are sites of others, on origins of their own. */
export async function violationsOf(page: Page, { parts, only }: Asked = {}): Promise<Result[]> {
  await bringAxe(page)
  const options: RunOptions = {
    iframes: false,
    // Selectors of all that is right take long.
    resultTypes: ['violations'],
    ...(only === undefined ? {} : { runOnly: only }),
  }
  return page.evaluate(
    async ({ parts, options }) => {
      const { axe } = window as Axe
      if (axe === undefined) throw new Error('axe is not in the page')
      const at = parts === undefined ? document : { include: parts.map((part) => [part]) }
      return (await axe.run(at, options)).violations
    },
    { parts, options },
  )
}

/** The rules whose answer the colours change. */
const OF_COLOURS = ['color-contrast', 'link-in-text-block']

/** In CSS pixels: a phone, a laptop, a large screen. */
const WIDTHS = [390, 1440, 1920]
let turn = 0
/** One of them, in turn; all by `npm run test:long`. */
const nextWidths = (): number[] =>
  Array.from({ length: rounds(1, WIDTHS.length) }, () => WIDTHS[turn++ % WIDTHS.length] as number)

/** The faults of the open page in light and in dark. It stays dark, and gets its size back. */
export async function violationsInBothThemes(
  page: Page,
  parts: Pick<Asked, 'parts'> = {},
): Promise<Result[]> {
  const size = page.viewportSize()
  const found: Result[] = []
  for (const width of nextWidths()) {
    await page.setViewportSize({ width, height: 800 })
    found.push(...(await violationsOfThemes(page, parts)))
  }
  if (size !== null) await page.setViewportSize(size)
  return found
}

/** All rules once, those of colours in both themes. */
async function violationsOfThemes(page: Page, parts: Pick<Asked, 'parts'>): Promise<Result[]> {
  // Reduced motion: a colour in transition belongs to neither theme.
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
  const light = await violationsOf(page, parts)
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' })
  return [...light, ...(await violationsOf(page, { ...parts, only: OF_COLOURS }))]
}

const PREPARED = new WeakSet<Page>()

/**
 * Into this document and all that come: what is there from the start is compiled once for all of them, and takes a tenth of the time
 * of what is evaluated in each.
 */
async function bringAxe(page: Page): Promise<void> {
  if (!PREPARED.has(page)) {
    PREPARED.add(page)
    await page.addInitScript(`if (window === top) {${SCRIPT}}`)
  }
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(SCRIPT)
}

/** Those that must not be, in a line each. */
export const seriousFaults = (violations: Result[]): string[] =>
  violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`)
