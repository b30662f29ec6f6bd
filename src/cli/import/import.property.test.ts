import { expect, test } from 'bun:test'
import { parseHeaders } from '../../domain/routing/headers.ts'
import { parseRedirects } from '../../domain/routing/redirects.ts'
import { rounds, seedOf } from '../../testing/rounds.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { compose } from './compose.ts'
import { SourceError } from './located.ts'
import { readSource, SOURCE_NAMES } from './read-source.ts'

/** Whatever a file holds: it is read whole or refused with a place, and what is written is what a publish takes. */

const random = seededRandom(seedOf('import'))
const one = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T

const TOML = `[build]
publish = "dist"
[[redirects]]
from = "/old/*"
to = "/new/:splat"
status = 302
query = {id = ":id"}
[redirects.conditions]
Language = ["de", "fr"]
[[headers]]
for = "/*"
[headers.values]
X-A = '''b
c'''
[assets]
html_handling = "none"
`
const JSON_TEXT = JSON.stringify({
  redirects: [{ source: '/a/:path*', destination: '/b/:path*', permanent: false }],
  rewrites: [{ source: '/(.*)', destination: 'https://x.example/$1' }],
  headers: [{ source: '/**', headers: [{ key: 'X-A', value: 'b' }] }],
  hosting: { redirects: [{ source: '/x/**', destination: '/y', type: 301 }], cleanUrls: true },
  assets: { not_found_handling: '404-page' },
})
const PIECES = [
  '"',
  "'",
  '\n',
  '\\n',
  '[',
  ']',
  '{',
  '}',
  ':',
  ',',
  '#',
  '//',
  '/*',
  '*',
  '\0',
  'ü',
  '=',
  ' ',
  '\\',
  '/',
  '!',
  '$1',
]

function mutated(text: string): string {
  let out = text
  for (let change = 0; change < 1 + Math.floor(random() * 4); change++) {
    const at = Math.floor(random() * (out.length + 1))
    out = out.slice(0, at) + one(PIECES) + out.slice(at + Math.floor(random() * 3))
  }
  return out
}

test('every file is carried, listed or refused with a place', () => {
  for (let round = 0; round < rounds(3_000, 200_000); round++) {
    const name = one(SOURCE_NAMES)
    const text = mutated(name.endsWith('.toml') ? TOML : JSON_TEXT)
    try {
      const out = readSource(name, new TextEncoder().encode(text))
      const entries = out.redirects.length
      const listed = out.notCarried.length
      const { redirects, headers, counts } = compose(out)
      const [lines, blocks] = [parseRedirects(redirects), parseHeaders(headers)]
      expect([lines.refused, lines.lines.length]).toEqual([0, counts.redirects])
      expect([blocks.refused, blocks.blocks.length, blocks.basicAuthLine]).toEqual([0, counts.headers, null])
      expect(counts.redirects + out.notCarried.length).toBeGreaterThanOrEqual(entries + listed)
    } catch (error) {
      if (!(error instanceof SourceError))
        throw new Error(`${name}: ${JSON.stringify(text)}`, { cause: error })
      expect(error.line).toBeGreaterThan(0)
      expect(error.column).toBeGreaterThan(0)
    }
  }
})
