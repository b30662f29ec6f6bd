import { type Link, MAX_ADDRESS } from './link.ts'

/** Where something begins that is no address, so that nothing in it counts, or that is one. */
const START = /\/\*|@namespace|(?:@import\s+|(?<![\w-])url\(\s*)(?<quote>["'])?|["']/gi
const BARE_END = /[\s"'()]/

/** What `url()` and `@import` of a style sheet name, with the place of each. Takes time linear in the text. */
export function* addressesInCss(text: string): Generator<{ address: string; at: number }> {
  const start = new RegExp(START)
  for (let found = start.exec(text); found !== null; found = start.exec(text)) {
    const [token, quote] = [found[0].toLowerCase(), found.groups?.['quote']]
    const from = start.lastIndex
    const end = endOf(text, from, token, quote)
    start.lastIndex = end + 1
    const isAddress = token.startsWith('url') || (token.startsWith('@import') && quote !== undefined)
    if (isAddress && end - from <= MAX_ADDRESS) {
      const address = unescaped(text.slice(from, end)).trim()
      if (address !== '') yield { address, at: found.index }
    }
    // What ended a bare address, a statement or nothing at all may begin the next.
    if (quote === undefined && !/^["']$/.test(token)) start.lastIndex = end
  }
}

/** The same with the line of each, where the text begins in the given one. */
export function* linksInCss(text: string, firstLine = 1): Generator<Link> {
  let [line, from] = [firstLine, 0]
  for (const { address, at } of addressesInCss(text)) {
    for (let next = text.indexOf('\n', from); next !== -1 && next < at; next = text.indexOf('\n', from)) {
      line += 1
      from = next + 1
    }
    yield { kind: 'asset', address, line }
  }
}

function endOf(text: string, from: number, token: string, quote: string | undefined): number {
  if (token === '/*') {
    const end = text.indexOf('*/', from)
    return end === -1 ? text.length : end + 2
  }
  if (token === '@namespace') return endAt(text, from, /[;{}]/)
  if (quote !== undefined) return endOfString(text, from, quote)
  if (token === '"' || token === "'") return endOfString(text, from, token)
  return token.startsWith('url') ? endAt(text, from, BARE_END) : from
}

const endOfString = (text: string, from: number, quote: string): number =>
  endAt(text, from, quote === '"' ? /["\n\r\f]/ : /['\n\r\f]/)

/** The first such character that no backslash stands before. */
function endAt(text: string, from: number, end: RegExp): number {
  let at = from
  while (at < text.length) {
    const character = text.charAt(at)
    if (character === '\\') at += escapeLength(text, at) - 1
    else if (end.test(character)) return at
    at += 1
  }
  return text.length
}

const ESCAPE = /\\(?:[\da-f]{1,6}\s?|[\s\S]|$)/iy

function escapeLength(text: string, at: number): number {
  ESCAPE.lastIndex = at
  return ESCAPE.exec(text)?.[0].length ?? 1
}

const unescaped = (text: string): string =>
  text.replace(/\\(?:([\da-f]{1,6})\s?|(\r\n|[\s\S]))/gi, (_, hex?: string, character = '') => {
    if (hex === undefined) return /[\n\r\f]/.test(character) ? '' : character
    const code = Number.parseInt(hex, 16)
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd'
  })
