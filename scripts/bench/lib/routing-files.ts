import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

const STATIC = 2000
const DYNAMIC = 100
const BLOCKS = 100
const LINE_CHARACTERS = 80

/** Where the last line without placeholders leads from. */
export const LAST_LINE = `/old/${STATIC - 1}`

/** As many lines and blocks as the limits allow. No line takes a page's path; one block matches all pages. */
export function writeFullRouting(folder: string): void {
  writeFileSync(join(folder, '_redirects'), fullRedirects())
  writeFileSync(join(folder, '_headers'), fullHeaders())
}

/** As text: 2,000 lines without placeholders, then 100 with. */
export const fullRedirects = (): string =>
  joined([
    ...numbered(STATIC, (n) => line(`/old/${n}`, `/new/${n}/`)),
    ...numbered(DYNAMIC, (n) => line(`/moved/${n}/*`, `/now/${n}/:splat?`)),
  ])

/** As text: 100 blocks, the first for every page. */
export const fullHeaders = (): string =>
  joined(numbered(BLOCKS, (n) => `${n === 0 ? '/*' : `/part/${n}/*`}\n  X-Block-${n}: value ${n}`))

const line = (source: string, target: string): string =>
  `${source} ${target.padEnd(LINE_CHARACTERS - source.length - 5, 'x')} 301`

const numbered = (count: number, make: (n: number) => string): string[] =>
  Array.from({ length: count }, (_, n) => make(n))

const joined = (lines: readonly string[]): string => `${lines.join('\n')}\n`
