import { Parser } from 'htmlparser2'
import { addressesInCss } from './css.ts'
import { LineCounter } from './line-counter.ts'
import { type Link, MAX_ADDRESS } from './link.ts'
import { addressesInSrcset } from './srcset.ts'

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
const LOADED = /\b(?:stylesheet|icon|apple-touch-icon|mask-icon|manifest|preload|modulepreload|prefetch)\b/i
const NOT_FETCHED = /\b(?:preconnect|dns-prefetch)\b/i
const MAX_STYLE = 1024 * 1024

type Attributes = Readonly<Record<string, string>>

/** Reads the links of an HTML page from pieces of its text. What a template holds is not shown, so it has no links. */
export class HtmlLinks {
  /** Of the first `<base>` that has one. */
  base: string | null = null
  #found: Link[] = []
  #templates = 0
  #style: string | null = null
  readonly #lines = new LineCounter()
  readonly #parser = new Parser(
    {
      onopentag: (name, attributes) => this.#open(name, attributes),
      onclosetag: (name) => this.#close(name),
      ontext: (text) => this.#text(text),
    },
    { lowerCaseTags: true, lowerCaseAttributeNames: true },
  )

  /** The links that this piece completes. */
  read(text: string): Link[] {
    this.#lines.add(text)
    this.#parser.write(text)
    return this.#take()
  }

  end(): Link[] {
    this.#parser.end()
    return this.#take()
  }

  #take(): Link[] {
    const found = this.#found
    this.#found = []
    return found
  }

  #open(name: string, attributes: Attributes): void {
    if (name === 'template') this.#templates += 1
    if (this.#templates > 0) return
    if (name === 'style') this.#style = ''
    const { href, style } = attributes
    if (name === 'base' && href !== undefined) this.base ??= href
    if (LINKS.has(name)) this.#add('link', href)
    if (name === 'link') this.#addRelated(attributes)
    for (const attribute of Object.hasOwn(ASSETS, name) ? (ASSETS[name] ?? []) : [])
      this.#add('asset', attributes[attribute])
    if (WITH_SRCSET.has(name))
      for (const address of addressesInSrcset(attributes['srcset'] ?? '')) this.#add('asset', address)
    if (style !== undefined) this.#addCss(style)
  }

  #close(name: string): void {
    if (name === 'template') this.#templates = Math.max(0, this.#templates - 1)
    if (name !== 'style' || this.#style === null) return
    this.#addCss(this.#style)
    this.#style = null
  }

  #text(text: string): void {
    if (this.#style !== null && this.#style.length < MAX_STYLE) this.#style += text
  }

  /** A relation that names another page is a link; one that loads nothing is none. */
  #addRelated({ rel = '', href }: Attributes): void {
    if (LOADED.test(rel)) this.#add('asset', href)
    else if (rel.trim() !== '' && !NOT_FETCHED.test(rel)) this.#add('link', href)
  }

  #addCss(text: string): void {
    for (const { address } of addressesInCss(text)) this.#add('asset', address)
  }

  #add(kind: Link['kind'], address: string | undefined): void {
    const trimmed = address?.trim() ?? ''
    if (trimmed === '' || trimmed.length > MAX_ADDRESS) return
    this.#found.push({ kind, address: trimmed, line: this.#lines.at(this.#parser.startIndex) })
  }
}
