import { feedDate } from './feed-date.ts'
import { attributeOf, contentOf, nodesIn, textOf, valuesByName, type XmlNode } from './xml-node.ts'

export type FeedFormat = 'rss' | 'atom' | 'rdf'

export type Enclosure = { url: string; type?: string; length?: number }

/** contract 14.5. What a feed does not say is left out. */
export type FeedEntry = {
  guid?: string
  title?: string
  link?: string
  author?: string
  publishedAt?: string
  content?: string
  summary?: string
  enclosures: Enclosure[]
  extensions: Record<string, unknown>
}

type Parts = { [Key in keyof FeedEntry]: FeedEntry[Key] | undefined }

/** `base`: what links are relative to; null if nothing is known. */
export function entryOf(format: FeedFormat, node: XmlNode, base: string | null): FeedEntry {
  const parts = format === 'atom' ? atomEntry(node, base) : rssEntry(format, node, base)
  return Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined)) as FeedEntry
}

const MAPPED = new Set(['content:encoded', 'dc:creator', 'dc:date'])

function rssEntry(format: FeedFormat, item: XmlNode, base: string | null): Parts {
  const first = (name: string) => nodesIn(item, name)[0]
  const link = absolute(textOf(first('link')), base)
  const summary = contentOf(first('description'))
  const guid = format === 'rdf' ? attributeOf(item, 'rdf:about') : textOf(first('guid'))
  return {
    guid: guid ?? link,
    title: textOf(first('title')),
    link,
    author: textOf(first('author')) ?? textOf(first('dc:creator')),
    publishedAt: feedDate(textOf(first('pubDate')) ?? textOf(first('dc:date'))),
    content: contentOf(first('content:encoded')) ?? summary,
    summary,
    enclosures: nodesIn(item, 'enclosure').flatMap((one) => enclosureOf(one, 'url', base)),
    extensions: extensionsOf(item, MAPPED),
  }
}

function atomEntry(entry: XmlNode, base: string | null): Parts {
  const first = (name: string) => nodesIn(entry, name)[0]
  const links = nodesIn(entry, 'link')
  const link = absolute(hrefOf(links), base)
  const summary = contentOf(first('summary'))
  const [author] = nodesIn(entry, 'author')
  const [name] = author === undefined ? [] : nodesIn(author, 'name')
  return {
    guid: textOf(first('id')) ?? link,
    title: textOf(first('title')),
    link,
    author: textOf(name ?? author),
    publishedAt: feedDate(textOf(first('published')) ?? textOf(first('updated'))),
    content: contentOf(first('content')) ?? summary,
    summary,
    enclosures: links
      .filter((one) => attributeOf(one, 'rel') === 'enclosure')
      .flatMap((one) => enclosureOf(one, 'href', base)),
    extensions: extensionsOf(entry, NONE),
  }
}

const NONE: ReadonlySet<string> = new Set()

/** The address of the page: the first link without a relation or with `alternate`, else the first. */
export function hrefOf(links: readonly XmlNode[]): string | undefined {
  const isPage = (link: XmlNode) => (attributeOf(link, 'rel') ?? 'alternate') === 'alternate'
  return attributeOf(links.find(isPage) ?? links[0], 'href')
}

function enclosureOf(node: XmlNode, attribute: string, base: string | null): Enclosure[] {
  const url = absolute(attributeOf(node, attribute), base)
  if (url === undefined) return []
  const type = attributeOf(node, 'type')
  const length = Number(attributeOf(node, 'length') ?? 0)
  return [
    {
      url,
      ...(type === undefined ? {} : { type }),
      ...(Number.isSafeInteger(length) && length > 0 ? { length } : {}),
    },
  ]
}

const extensionsOf = (node: XmlNode, mapped: ReadonlySet<string>): Record<string, unknown> =>
  valuesByName(
    node.children.filter(
      (child): child is XmlNode =>
        typeof child !== 'string' && child.name.includes(':') && !mapped.has(child.name),
    ),
  )

const LONGEST_URL = 8000

/** As it is if it is absolute or there is no base. */
function absolute(url: string | undefined, base: string | null): string | undefined {
  if (url === undefined || base === null || url.length > LONGEST_URL || /^[a-z][a-z\d+.-]*:/i.test(url))
    return url
  return URL.parse(url, base)?.href ?? url
}
