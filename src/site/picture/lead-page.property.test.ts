import { expect, test } from 'bun:test'
import { rounds, seedOf } from '../../testing/rounds.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { leadElements, leadStyles } from './lead-page.ts'

/** Whatever a page is made of, it is led without an error, and what browsers would ask for lies below the mount. */

const MOUNT = '/_svc/picture/ticket'
const TAGS =
  'a b img link script style svg use template select option textarea title xmp noscript math table iframe plaintext p'.split(
    ' ',
  )
const NAMES = [
  'href',
  'HREF',
  'src',
  'srcset',
  'imagesrcset',
  'poster',
  'data',
  'style',
  'class',
  '"',
  '=',
  'on\0load',
]
const VALUES = [
  '/a',
  '//b',
  '/\\c',
  ' /d',
  '/e 1x, /f 2x',
  'url(/g)',
  '@import "/h"',
  'x/y',
  '',
  '&#47;i',
  '/é\u{1f600}',
  '"/j',
  "'/k",
  '>',
  '/</l',
  '\0/m',
]
const PIECES = [
  '<',
  '</',
  '<!--',
  '-->',
  '<![CDATA[',
  ']]>',
  '<!doctype html>',
  'text',
  '&amp;',
  '@import "/n";',
  "url('/o')",
  '\0',
  '\ufeff',
  '\r\n',
  '<?x /p?>',
]

function pageOf(random: () => number): string {
  const one = (items: readonly string[]) => items[Math.floor(random() * items.length)] ?? ''
  const attribute = () => {
    const quote = one(['"', "'", ''])
    return ` ${one(NAMES)}=${quote}${one(VALUES)}${quote}`
  }
  const tag = () =>
    `<${one(['', '', '/'])}${one(TAGS)}${random() < 0.7 ? attribute() : ''}${random() < 0.3 ? attribute() : ''}${one(['>', '/>', '', ' '])}`
  return Array.from({ length: 1 + Math.floor(random() * 12) }, () =>
    random() < 0.6 ? tag() : one(PIECES),
  ).join('')
}

/** The addresses in a page that are still on its host and not below the mount. */
function astray(page: string): string[] {
  const found: string[] = []
  new HTMLRewriter()
    .on('*', {
      element({ attributes }) {
        // Of two of one name the first counts.
        for (const [name, value] of new Map([...attributes].reverse()))
          if (
            ADDRESSES.has(name ?? '') &&
            /^[\t\n\f\r ]*\/(?![/\\])(?!_svc\/picture\/ticket)/.test(value ?? '')
          )
            found.push(`${name}=${value}`)
      },
    })
    .transform(page)
  return found
}

const ADDRESSES = new Set(['href', 'src', 'poster', 'data'])

test('random pages are led', () => {
  const random = seededRandom(seedOf('lead-page'))
  for (let round = 0; round < rounds(20_000, 1_000_000); round++) {
    const page = pageOf(random)
    const led = leadStyles(MOUNT).transform(leadElements(MOUNT).transform(page))
    const strays = astray(led)
    if (strays.length > 0) throw new Error(`${JSON.stringify(page)} became ${JSON.stringify(led)}: ${strays}`)
  }
  expect(random()).toBeLessThan(1)
}, 1_800_000)

test('what follows a style whose tag has an attribute without a value is led', () => {
  const page = '<style media=><!--</style><img src="/a.png">'
  expect(leadStyles(MOUNT).transform(leadElements(MOUNT).transform(page))).toContain(`src="${MOUNT}/a.png"`)
})

test('bytes that are no UTF-8 stay as they are', () => {
  const bytes = new Uint8Array([0x3c, 0x70, 0x3e, 0xff, 0xfe, 0x80, 0xe9, 0x3c, 0x2f, 0x70, 0x3e])
  expect(new Uint8Array(leadStyles(MOUNT).transform(leadElements(MOUNT).transform(bytes.buffer)))).toEqual(
    bytes,
  )
})
