import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2'
import { LineCounter } from './line-counter.ts'

/** A start tag with those of its attributes that are wanted. `line`: where it begins. */
export type Tag = { name: string; attributes: ReadonlyMap<string, string>; line: number }

export type TagListener = {
  isWanted: (attribute: string) => boolean
  open: (tag: Tag) => void
  close: (name: string) => void
  text: (text: string) => void
}

/** What is longer is cut. */
export const MAX_VALUE = 256 * 1024
const MAX_KEPT = 64 * 1024
/** In these a `<style>` is no text. */
const FOREIGN: ReadonlySet<string> = new Set(['svg', 'math'])

/**
 * Reads tags from pieces of a page. It keeps no list of open elements: one of a million that nobody closes would make each
 * end tag slow.
 */
export class TagReader implements TokenizerCallbacks {
  readonly #listener: TagListener
  readonly #lines = new LineCounter()
  readonly #tokenizer = new Tokenizer({}, this)
  /** What may still be asked for: from the end of the last token. */
  #kept = ''
  #keptFrom = 0
  #used = 0
  #foreign = 0
  #isEnded = false
  #name = ''
  #line = 1
  #attributes = new Map<string, string>()
  #attribute: string | null = null
  #value = ''

  constructor(listener: TagListener) {
    this.#listener = listener
  }

  write(text: string): void {
    const kept = this.#kept.slice(Math.max(this.#used - this.#keptFrom, this.#kept.length - MAX_KEPT, 0))
    this.#keptFrom += this.#kept.length - kept.length
    this.#kept = kept + text
    this.#lines.add(text)
    this.#tokenizer.write(text)
  }

  /** What an unfinished tag holds would be given out as text, which it is not; what looks like an end tag is text. */
  end(): void {
    this.write(' ')
    this.#isEnded = true
    this.#tokenizer.end()
  }

  isInForeignContext(): boolean {
    return this.#foreign > 0
  }

  onopentagname(start: number, end: number): void {
    this.#name = this.#take(start, end).toLowerCase()
    this.#line = this.#lines.at(start)
    this.#attributes = new Map()
  }

  onattribname(start: number, end: number): void {
    const name = this.#take(start, end).toLowerCase()
    this.#attribute = this.#listener.isWanted(name) && !this.#attributes.has(name) ? name : null
    this.#value = ''
  }

  onattribdata(start: number, end: number): void {
    const text = this.#take(start, end)
    if (this.#attribute !== null && this.#value.length < MAX_VALUE) this.#value += text
  }

  onattribentity(code: number): void {
    if (this.#attribute !== null) this.#value += String.fromCodePoint(code)
  }

  onattribend(): void {
    if (this.#attribute !== null) this.#attributes.set(this.#attribute, this.#value)
    this.#attribute = null
  }

  onopentagend(end: number): void {
    if (FOREIGN.has(this.#name)) this.#foreign += 1
    this.#opened(end)
  }

  onselfclosingtag(end: number): void {
    this.#opened(end)
  }

  onclosetag(start: number, end: number): void {
    const name = this.#take(start, end).toLowerCase()
    if (FOREIGN.has(name)) this.#foreign = Math.max(0, this.#foreign - 1)
    this.#listener.close(name)
  }

  ontext(start: number, end: number): void {
    const text = this.#take(start, end)
    if (!this.#isEnded) this.#listener.text(text)
  }

  ontextentity(code: number, end: number): void {
    this.#used = end
    this.#listener.text(String.fromCodePoint(code))
  }

  oncomment(_start: number, end: number): void {
    this.#used = end
  }

  oncdata(_start: number, end: number): void {
    this.#used = end
  }

  ondeclaration(_start: number, end: number): void {
    this.#used = end
  }

  onprocessinginstruction(_start: number, end: number): void {
    this.#used = end
  }

  onend(): void {
    this.#kept = ''
  }

  #opened(end: number): void {
    this.#used = end
    this.#listener.open({ name: this.#name, attributes: this.#attributes, line: this.#line })
  }

  #take(start: number, end: number): string {
    this.#used = end
    return this.#kept.slice(Math.max(0, start - this.#keptFrom), Math.max(0, end - this.#keptFrom))
  }
}
