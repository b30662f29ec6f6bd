/** A media range of an `Accept` header, in lower case, with its weight from 0 to 1. */
export type MediaRange = { type: string; parameters: readonly string[]; weight: number }

/** The ranges of `Accept`; none if it is empty. An unreadable weight counts as 1. RFC 9110 §12.5.1 and §12.4.2. */
export function parseAccept(header: string): MediaRange[] {
  return (header.match(ELEMENTS) ?? []).map(parseRange).filter(({ type }) => type !== '')
}

/**
 * The most specific range that covers a media type, which may have parameters; undefined if none does. Of equally
 * specific ones the heaviest.
 */
export function rangeFor(ranges: readonly MediaRange[], mediaType: string): MediaRange | undefined {
  const wanted = parseRange(mediaType)
  return ranges
    .filter((range) => covers(range, wanted))
    .toSorted((a, b) => specificity(b) - specificity(a) || b.weight - a.weight)[0]
}

/** Split at commas and semicolons outside quotes. */
const ELEMENTS = /(?:[^,"]|"(?:\\.|[^"\\])*"?)+/g
const PARTS = /(?:[^;"]|"(?:\\.|[^"\\])*"?)+/g

function parseRange(text: string): MediaRange {
  const [name = '', ...pairs] = text.toLowerCase().match(PARTS) ?? []
  const parameters = pairs.map(plainParameter).filter((pair) => pair !== '')
  const weight = parameters.find((pair) => pair.startsWith('q='))
  return {
    // Old Java clients send a lone star.
    type: name.trim() === '*' ? '*/*' : name.trim(),
    parameters: parameters.filter((pair) => pair !== weight),
    weight: weight === undefined ? 1 : weightOf(weight.slice('q='.length)),
  }
}

/** `level = "1"` is `level=1`. */
function plainParameter(pair: string): string {
  const [name = '', ...value] = pair.split('=')
  const text = value.join('=').trim()
  return value.length === 0 ? name.trim() : `${name.trim()}=${text.replace(/^"(.*)"$/, '$1')}`
}

function weightOf(text: string): number {
  const weight = text === '' ? 1 : Number(text)
  return weight >= 0 && weight < 1 ? weight : 1
}

function covers({ type, parameters }: MediaRange, wanted: MediaRange): boolean {
  if (type === '*/*') return true
  if (type.endsWith('/*')) return wanted.type.startsWith(type.slice(0, -1))
  return type === wanted.type && parameters.every((pair) => wanted.parameters.includes(pair))
}

function specificity({ type, parameters }: MediaRange): number {
  if (type === '*/*') return 0
  return type.endsWith('/*') ? 1 : 2 + parameters.length
}
