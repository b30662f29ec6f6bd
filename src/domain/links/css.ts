import { MAX_ADDRESS } from './link.ts'

const STRING = String.raw`"(?:[^"\\\n\r\f]|\\[\s\S])*"?|'(?:[^'\\\n\r\f]|\\[\s\S])*'?`

/** Whatever stands first: what is no address, so that nothing in it counts, or an address. */
const TOKEN = new RegExp(
  [
    String.raw`\/\*[\s\S]*?(?:\*\/|$)`,
    '@namespace[^;{}]*',
    String.raw`@import\s+(?<imported>${STRING})`,
    String.raw`(?<![\w-])url\(\s*(?:(?<quoted>${STRING})|(?<bare>(?:[^\s"'()\\]|\\[\s\S])*))`,
    STRING,
  ].join('|'),
  'gi',
)

/** What `url()` and `@import` of a style sheet name, with the place of each. Takes time linear in the text. */
export function* addressesInCss(text: string): Generator<{ address: string; at: number }> {
  for (const { index, groups } of text.matchAll(TOKEN)) {
    const written = groups?.['imported'] ?? groups?.['quoted'] ?? groups?.['bare']
    if (written === undefined || written.length > MAX_ADDRESS) continue
    const address = unescaped(unquoted(written)).trim()
    if (address !== '') yield { address, at: index }
  }
}

function unquoted(written: string): string {
  const quote = written[0]
  if (quote !== '"' && quote !== "'") return written
  return written.endsWith(quote) && written.length > 1 ? written.slice(1, -1) : written.slice(1)
}

const unescaped = (text: string): string =>
  text.replace(/\\(?:([\da-f]{1,6})\s?|(\r\n|[\s\S]))/gi, (_, hex?: string, character = '') => {
    if (hex === undefined) return /[\n\r\f]/.test(character) ? '' : character
    const code = Number.parseInt(hex, 16)
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd'
  })
