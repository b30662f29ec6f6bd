import { entryOf, type FeedEntry, type FeedFormat, hrefOf } from './entry.ts'
import { textOf, type XmlNode } from './xml-node.ts'
import { XmlError, type XmlListener, XmlReader } from './xml-reader.ts'

const MAX_ENTRIES = 5000
/** Elements in one entry. */
const MAX_ELEMENTS = 10_000
/** Links of the feed itself that are looked at. */
const MAX_LINKS = 20

const ROOTS: ReadonlyMap<string, FeedFormat> = new Map([
  ['rss', 'rss'],
  ['feed', 'atom'],
  ['RDF', 'rdf'],
])

/** How deep in the document entries stand, and what they are called. */
const ENTRIES = {
  rss: { name: 'item', depth: 2 },
  atom: { name: 'entry', depth: 1 },
  rdf: { name: 'item', depth: 1 },
} as const satisfies Record<FeedFormat, object>

/**
 * Reads a feed in pieces: RSS 2.0, Atom or RDF. `take` gets each entry when it ends; nothing else is kept. `source`: its
 * address, which links are relative to; null if there is none, and then to the link that the feed has. Throws `XmlError`.
 */
export class FeedReader implements XmlListener {
  readonly #xml = new XmlReader(this)
  readonly #take: (entry: FeedEntry) => void
  readonly #source: string | null
  #format: FeedFormat | undefined
  /** Of the names of the feed itself, such as `atom:`. */
  #prefix = ''
  #depth = 0
  /** The elements that are kept, from an entry or a title down. */
  readonly #kept: XmlNode[] = []
  #elements = 0
  #count = 0
  #title: string | undefined
  readonly #links: XmlNode[] = []

  constructor(source: string | null, take: (entry: FeedEntry) => void) {
    this.#source = source
    this.#take = take
  }

  get title(): string | undefined {
    return this.#title
  }

  write(text: string): void {
    this.#xml.write(text)
  }

  end(): void {
    this.#xml.end()
  }

  open(rawName: string, attributes: ReadonlyMap<string, string>): void {
    if (this.#format === undefined) this.#format = this.#formatOf(rawName)
    const name = this.#ownName(rawName)
    const parent = this.#kept.at(-1)
    if (parent !== undefined || this.#isWanted(name)) {
      const node = { name, attributes, children: [] }
      this.#elements += 1
      if (this.#elements > MAX_ELEMENTS)
        throw new XmlError(`has an entry with more than ${MAX_ELEMENTS} elements`)
      parent?.children.push(node)
      this.#kept.push(node)
    }
    this.#depth += 1
  }

  text(text: string): void {
    const children = this.#kept.at(-1)?.children
    if (children === undefined) return
    const last = children.at(-1)
    if (typeof last === 'string') children[children.length - 1] = last + text
    else children.push(text)
  }

  close(): void {
    this.#depth -= 1
    const node = this.#kept.pop()
    if (node === undefined || this.#kept.length > 0) return
    this.#elements = 0
    if (this.#isEntry(node.name)) this.#entry(node)
    else if (node.name === 'title') this.#title ??= textOf(node)
    else if (this.#links.length < MAX_LINKS) this.#links.push(node)
  }

  #formatOf(name: string): FeedFormat {
    const local = name.slice(name.indexOf(':') + 1)
    const format = ROOTS.get(local)
    if (format === undefined) throw new XmlError(`is no feed: it begins with <${name.slice(0, 50)}>`)
    if (format !== 'rdf') this.#prefix = name.slice(0, name.length - local.length)
    return format
  }

  #ownName(name: string): string {
    return this.#prefix !== '' && name.startsWith(this.#prefix) ? name.slice(this.#prefix.length) : name
  }

  /** An entry, or the title or link of the feed itself. */
  #isWanted(name: string): boolean {
    if (this.#isEntry(name)) return true
    const isOfFeed = this.#depth === (this.#format === 'atom' ? 1 : 2)
    return isOfFeed && (name === 'title' || name === 'link')
  }

  #isEntry(name: string): boolean {
    const { name: ofEntry, depth } = ENTRIES[this.#format ?? 'rss']
    return name === ofEntry && this.#depth === depth
  }

  #ownLink(): string | undefined {
    return this.#format === 'atom' ? hrefOf(this.#links) : textOf(this.#links[0])
  }

  #entry(node: XmlNode): void {
    this.#count += 1
    if (this.#count > MAX_ENTRIES) throw new XmlError(`has more than ${MAX_ENTRIES} entries`)
    this.#take(entryOf(this.#format ?? 'rss', node, this.#source ?? this.#ownLink() ?? null))
  }
}
