/** An element with everything in it, in its order. */
export type XmlNode = {
  name: string
  attributes: ReadonlyMap<string, string>
  children: (XmlNode | string)[]
}

const isNode = (child: XmlNode | string): child is XmlNode => typeof child !== 'string'

export const nodesIn = (node: XmlNode, name: string): XmlNode[] =>
  node.children.filter((child): child is XmlNode => isNode(child) && child.name === name)

/** The trimmed value of an attribute; undefined if it is empty. */
export const attributeOf = (node: XmlNode | undefined, name: string): string | undefined =>
  node?.attributes.get(name)?.trim() || undefined

/** The trimmed text with that of all elements inside; undefined if it is empty. */
export const textOf = (node: XmlNode | undefined): string | undefined =>
  node === undefined ? undefined : rawText(node).trim() || undefined

const rawText = (node: XmlNode): string =>
  node.children.map((child) => (isNode(child) ? rawText(child) : child)).join('')

/** The text, or if there are elements inside, such as XHTML, all of it as markup. */
export function contentOf(node: XmlNode | undefined): string | undefined {
  if (node === undefined) return undefined
  return node.children.some(isNode) ? markupIn(node).trim() || undefined : textOf(node)
}

const markupIn = (node: XmlNode): string =>
  node.children.map((child) => (isNode(child) ? markupOf(child) : escaped(child))).join('')

function markupOf(node: XmlNode): string {
  const attributes = [...node.attributes].map(([name, value]) => ` ${name}="${escaped(value)}"`).join('')
  const inside = markupIn(node)
  return inside === ''
    ? `<${node.name}${attributes}/>`
    : `<${node.name}${attributes}>${inside}</${node.name}>`
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/**
 * An element as a value: its text, or with attributes or elements inside an object of `@_attribute`, `#text` and the
 * elements by name. Several of one name are a list.
 */
export function nodeValue(node: XmlNode): unknown {
  const elements = node.children.filter(isNode)
  const text = node.children
    .filter((child) => !isNode(child))
    .join('')
    .trim()
  if (elements.length === 0 && node.attributes.size === 0) return text
  const attributes = [...node.attributes].map(([name, value]): [string, unknown] => [`@_${name}`, value])
  const own: [string, unknown][] = text === '' ? [] : [['#text', text]]
  return Object.fromEntries([...attributes, ...own, ...Object.entries(valuesByName(elements))])
}

export function valuesByName(nodes: readonly XmlNode[]): Record<string, unknown> {
  const byName = Map.groupBy(nodes, ({ name }) => name)
  return Object.fromEntries(
    [...byName].map(([name, all]) => {
      const values = all.map(nodeValue)
      return [name, values.length === 1 ? values[0] : values]
    }),
  )
}
