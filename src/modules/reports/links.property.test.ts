import { expect, test } from 'bun:test'
import { addressesInCss } from '../../domain/links/css.ts'
import { HtmlLinks } from '../../domain/links/html.ts'
import { rounds, seedOf } from '../../testing/rounds.ts'
import { seededRandom } from '../../testing/seeded-random.ts'

/** Whatever a page holds, its links are read, and the pieces in which it comes make no difference. */
const random = seededRandom(seedOf('links'))
const below = (limit: number): number => Math.floor(random() * limit)
const PARTS = [
  ...[
    '<',
    '>',
    '/',
    '"',
    "'",
    '=',
    ' ',
    '\n',
    '\r\n',
    '&',
    ';',
    '&amp',
    '&amp;',
    '&#',
    '&#x110000;',
    '-',
    '!',
  ],
  ...[
    'a',
    'ü',
    '\u{1f600}',
    '\ud800',
    '\0',
    '<a',
    'href',
    '<a href=x>',
    '<img srcset="',
    ',',
    ' 2x',
    '<base href=',
  ],
  ...[
    '<style>',
    '</style>',
    '<style',
    '</styl',
    '<script>',
    '</script>',
    '<template>',
    '</template>',
    '<svg>',
  ],
  ...[
    '</svg>',
    '<!--',
    '-->',
    '<![CDATA[',
    ']]>',
    '<?',
    '<!',
    '<title>',
    '</title>',
    '<plaintext>',
    '<link rel=icon',
  ],
  ...[
    'url(',
    ')',
    '@import',
    '@namespace',
    '/*',
    '*/',
    '\\',
    '\\61',
    'style="',
    '<__proto__ ',
    'constructor=',
  ],
]

const page = (): string => Array.from({ length: below(60) }, () => PARTS[below(PARTS.length)]).join('')

function read(text: string, next: () => number): unknown {
  const reader = new HtmlLinks()
  const links = []
  for (let at = 0; at < text.length; ) {
    const length = next()
    links.push(...reader.read(text.slice(at, at + length)))
    at += length
  }
  return { links: [...links, ...reader.end()], base: reader.base }
}

test('pieces make no difference, and nothing throws', () => {
  for (let round = 0; round < rounds(20_000, 1_000_000); round += 1) {
    const text = page()
    const whole = read(text, () => text.length)
    const inPieces = read(text, () => 1 + below(9))
    if (!Bun.deepEquals(whole, inPieces))
      expect({ text, found: inPieces }).toEqual({ text, found: whole as never })
    for (const { at } of addressesInCss(text)) expect(at).toBeLessThan(text.length)
  }
}, 3_600_000)
