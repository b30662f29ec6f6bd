/** What SQLite returns for a field of a record. */
export type Value = number | string | null

/** The order of SQLite: null, then numbers, then texts by their bytes in UTF-8. */
export function compareValues(a: Value, b: Value): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(a, b)
  return rankOf(a) - rankOf(b)
}

const rankOf = (value: Value): number => (value === null ? 0 : typeof value === 'number' ? 1 : 2)

function compareTexts(a: string, b: string): number {
  const shared = Math.min(a.length, b.length)
  for (let i = 0; i < shared; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x !== y) return rankOfUnit(x) - rankOfUnit(y)
  }
  return a.length - b.length
}

/** A surrogate is part of a character above U+FFFF, so it comes after every other unit. */
function rankOfUnit(unit: number): number {
  if (unit < 0xd800) return unit
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800
}
