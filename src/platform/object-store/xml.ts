/** An element of the few documents that S3 answers with: either children or a text. */
export type Element = { name: string; text: string; children: Element[] }

const MAX_DEPTH = 8
const TOKEN = /<(\/?)([A-Za-z][\w:.-]*)((?:\s+[A-Za-z][\w:.-]*="[^"<&]*")*)\s*(\/?)>|([^<]+)/y
const DECLARATION = /^\ufeff?<\?xml [^<>?]*\?>/
const ENTITY = /&(?:(lt|gt|amp|quot|apos)|#(\d{1,7})|#x([0-9a-fA-F]{1,6}));|&/g
const NAMED: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

/**
 * Reads one element with its children, or undefined for anything else: no DOCTYPE, comment, CDATA or processing
 * instruction, which no S3 store sends. The caller bounds the length of the text.
 */
export function parseXml(text: string): Element | undefined {
  const root: Element = { name: '', text: '', children: [] }
  const open = [root]
  TOKEN.lastIndex = DECLARATION.exec(text)?.[0].length ?? 0
  while (TOKEN.lastIndex < text.length) {
    const token = TOKEN.exec(text)
    if (token === null || !take(token, open)) return undefined
  }
  const [element, ...others] = root.children
  return open.length === 1 && others.length === 0 && root.text.trim() === '' ? element : undefined
}

/** False where the document ends to be well-formed. */
function take([, slash, name = '', , isEmpty, content]: RegExpExecArray, open: Element[]): boolean {
  const parent = open.at(-1)
  if (parent === undefined) return false
  if (content !== undefined) {
    const plain = withoutEntities(content)
    parent.text += plain ?? ''
    return plain !== undefined
  }
  if (slash === '/') return open.length > 1 && open.pop()?.name === name && isEmpty === ''
  const element: Element = { name, text: '', children: [] }
  parent.children.push(element)
  if (isEmpty === '') open.push(element)
  return open.length <= MAX_DEPTH
}

function withoutEntities(text: string): string | undefined {
  let isGood = true
  const plain = text.replace(ENTITY, (_, named?: string, decimal?: string, hex?: string) => {
    if (named !== undefined) return NAMED[named] ?? ''
    const code = decimal !== undefined ? Number(decimal) : Number.parseInt(hex ?? 'x', 16)
    isGood &&= code > 0 && code <= 0x10_ffff
    return isGood ? String.fromCodePoint(code) : ''
  })
  return isGood ? plain : undefined
}

/** The text of the only child of that name; undefined if there is none, or several. */
export function childText(element: Element, name: string): string | undefined {
  const found = element.children.filter((child) => child.name === name)
  return found.length === 1 ? found[0]?.text : undefined
}
