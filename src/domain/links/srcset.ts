/** The addresses of a `srcset`, as browsers read it: an address may hold commas, but not end in one. */
export function addressesInSrcset(text: string): string[] {
  const addresses: string[] = []
  let at = 0
  while (at < text.length) {
    while (at < text.length && /[\s,]/.test(text.charAt(at))) at += 1
    const start = at
    while (at < text.length && !/\s/.test(text.charAt(at))) at += 1
    const word = text.slice(start, at)
    const address = withoutCommas(word)
    if (address !== '') addresses.push(address)
    if (address.length === word.length) at = behindDescriptors(text, at)
  }
  return addresses
}

/** Not by an expression: `,+$` takes quadratic time. */
function withoutCommas(word: string): string {
  let end = word.length
  while (word[end - 1] === ',') end -= 1
  return word.slice(0, end)
}

function behindDescriptors(text: string, from: number): number {
  let depth = 0
  for (let at = from; at < text.length; at += 1) {
    const character = text.charAt(at)
    if (character === '(') depth += 1
    else if (character === ')') depth = Math.max(0, depth - 1)
    else if (character === ',' && depth === 0) return at + 1
  }
  return text.length
}
