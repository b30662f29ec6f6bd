import { addressesInCss, linksInCss } from './css.ts'
import { type Link, MAX_ADDRESS } from './link.ts'
import { addressesInSrcset } from './srcset.ts'
import { MAX_VALUE, type Tag, TagReader } from './tags.ts'

/** Attributes by element that name something the page loads. */
const ASSETS: Readonly<Record<string, readonly string[]>> = {
  script: ['src'],
  img: ['src'],
  source: ['src'],
  video: ['src', 'poster'],
  audio: ['src'],
  iframe: ['src'],
  track: ['src'],
  embed: ['src'],
  object: ['data'],
}
const WITH_SRCSET: ReadonlySet<string> = new Set(['img', 'source'])
const LINKS: ReadonlySet<string> = new Set(['a', 'area'])
const LOADED: ReadonlySet<string> = new Set([
  ...['stylesheet', 'icon', 'apple-touch-icon', 'mask-icon', 'manifest'],
  ...['preload', 'modulepreload', 'prefetch'],
])
const NOT_FETCHED: ReadonlySet<string> = new Set(['preconnect', 'dns-prefetch'])
const WANTED: ReadonlySet<string> = new Set([
  'href',
  'rel',
  'style',
  'srcset',
  ...Object.values(ASSETS).flat(),
])

/** Reads the links of an HTML page from pieces of its text. What a template holds is not shown, so it has no links. */
export class HtmlLinks {
  /** Of the first `<base>` that has one. */
  base: string | null = null
  /** A `<style>` was longer than what is looked at. */
  isCut = false
  #found: Link[] = []
  #templates = 0
  #style: { text: string; line: number } | null = null
  readonly #tags = new TagReader({
    isWanted: (attribute) => WANTED.has(attribute),
    open: (tag) => this.#open(tag),
    close: (name) => this.#close(name),
    text: (text) => this.#text(text),
  })

  /** The links that this piece completes. */
  read(text: string): Link[] {
    this.#tags.write(text)
    return this.#take()
  }

  end(): Link[] {
    this.#tags.end()
    this.#endStyle()
    return this.#take()
  }

  #take(): Link[] {
    const found = this.#found
    this.#found = []
    return found
  }

  #open(tag: Tag): void {
    const { name, attributes, line } = tag
    if (name === 'template') this.#templates += 1
    if (this.#templates > 0) return
    if (name === 'style') this.#style = { text: '', line }
    const href = attributes.get('href')
    if (name === 'base' && href !== undefined) this.base ??= href
    if (LINKS.has(name)) this.#add('link', href, line)
    if (name === 'link') this.#addRelated(tag)
    for (const attribute of Object.hasOwn(ASSETS, name) ? (ASSETS[name] ?? []) : [])
      this.#add('asset', attributes.get(attribute), line)
    if (WITH_SRCSET.has(name))
      for (const address of addressesInSrcset(attributes.get('srcset') ?? ''))
        this.#add('asset', address, line)
    const style = attributes.get('style')
    if (style !== undefined)
      for (const { address } of addressesInCss(style)) this.#add('asset', address, line)
  }

  #close(name: string): void {
    if (name === 'template') this.#templates = Math.max(0, this.#templates - 1)
    if (name === 'style') this.#endStyle()
  }

  #text(text: string): void {
    if (this.#style === null) return
    if (this.#style.text.length < MAX_VALUE) this.#style.text += text
    else this.isCut = true
  }

  #endStyle(): void {
    if (this.#style === null) return
    const { text, line } = this.#style
    this.#style = null
    for (const found of linksInCss(text, line)) this.#found.push(found)
  }

  #addRelated({ attributes, line }: Tag): void {
    const relations = (attributes.get('rel') ?? '').toLowerCase().split(/\s+/)
    if (relations.some((relation) => LOADED.has(relation))) this.#add('asset', attributes.get('href'), line)
    else if (!relations.some((relation) => NOT_FETCHED.has(relation)))
      this.#add('related', attributes.get('href'), line)
  }

  #add(kind: Link['kind'], address: string | undefined, line: number): void {
    const trimmed = address?.trim() ?? ''
    if (trimmed === '' || trimmed.length > MAX_ADDRESS) return
    this.#found.push({ kind, address: trimmed, line })
  }
}
