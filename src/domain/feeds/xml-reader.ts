import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2'

/** What is wrong with a document, for whoever asked for it. */
export class XmlError extends Error {}

export type XmlListener = {
  open(name: string, attributes: ReadonlyMap<string, string>): void
  text(text: string): void
  close(name: string): void
}

const MAX_DEPTH = 100
const MAX_ATTRIBUTES = 100
/** Of a name in a message. */
const SHOWN = 50

/**
 * Reads XML in pieces. It knows no entities but the five of XML and numbers, fetches nothing, and refuses declarations of a
 * document's own. Throws `XmlError` for what is not well-formed.
 */
export class XmlReader implements TokenizerCallbacks {
  readonly #listener: XmlListener
  readonly #tokenizer = new Tokenizer({ xmlMode: true }, this)
  /** What may still be asked for, and where its first character stands in the document. */
  readonly #pieces: string[] = []
  #from = 0
  readonly #open: string[] = []
  #hasRoot = false
  #hasDoctype = false
  #isEnded = false
  #name = ''
  #attributes = new Map<string, string>()
  #attribute = ''
  #value = ''

  constructor(listener: XmlListener) {
    this.#listener = listener
  }

  write(text: string): void {
    if (text === '') return
    this.#pieces.push(text)
    this.#tokenizer.write(text)
  }

  /** What the tokenizer makes of an unfinished tag at the end does not count: the document is cut off. */
  end(): void {
    this.#isEnded = true
    this.#tokenizer.end()
    const last = this.#open.at(-1)
    if (last !== undefined) throw new XmlError(`ends before </${last.slice(0, SHOWN)}>`)
    if (!this.#hasRoot) throw new XmlError('is no XML')
  }

  isInForeignContext(): boolean {
    return false
  }

  onopentagname(start: number, end: number): void {
    this.#name = this.#take(start, end)
    this.#attributes = new Map()
  }

  onattribname(start: number, end: number): void {
    this.#attribute = this.#take(start, end)
    this.#value = ''
  }

  onattribdata(start: number, end: number): void {
    this.#value += this.#take(start, end)
  }

  onattribentity(code: number): void {
    this.#value += String.fromCodePoint(code)
  }

  onattribend(): void {
    this.#attributes.set(this.#attribute, this.#value)
    if (this.#attributes.size > MAX_ATTRIBUTES)
      throw new XmlError(`has an element with more than ${MAX_ATTRIBUTES} attributes`)
  }

  onopentagend(): void {
    if (this.#open.length === 0 && this.#hasRoot) throw new XmlError('has two elements at the top')
    if (this.#open.length === MAX_DEPTH) throw new XmlError(`is nested more than ${MAX_DEPTH} levels deep`)
    this.#hasRoot = true
    this.#open.push(this.#name)
    this.#listener.open(this.#name, this.#attributes)
  }

  onselfclosingtag(): void {
    this.onopentagend()
    this.#closed(this.#name)
  }

  onclosetag(start: number, end: number): void {
    this.#closed(this.#take(start, end))
  }

  #closed(name: string): void {
    const open = this.#open.pop()
    if (open !== name)
      throw new XmlError(
        open === undefined
          ? `closes </${name.slice(0, SHOWN)}>, which is not open`
          : `closes </${name.slice(0, SHOWN)}> where </${open.slice(0, SHOWN)}> must be`,
      )
    this.#listener.close(name)
  }

  ontext(start: number, end: number): void {
    this.#text(this.#take(start, end))
  }

  ontextentity(code: number): void {
    this.#text(String.fromCodePoint(code))
  }

  oncdata(start: number, end: number, offset: number): void {
    this.#text(this.#take(start, end - offset))
  }

  #text(text: string): void {
    if (this.#isEnded || text === '') return
    if (this.#open.length > 0) this.#listener.text(text)
    else if (text.trim() !== '' && text !== '\ufeff') throw new XmlError('is no XML')
  }

  ondeclaration(start: number, end: number): void {
    const text = this.#take(start, end)
    if (!/^doctype\b/i.test(text) || this.#hasRoot || this.#hasDoctype)
      throw new XmlError('has a declaration where none may be')
    if (text.includes('[')) throw new XmlError('has a document type with declarations of its own')
    this.#hasDoctype = true
  }

  oncomment(): void {}

  onprocessinginstruction(): void {}

  onend(): void {}

  /** The text between two places of the document. What stands before is not asked for any more. */
  #take(start: number, end: number): string {
    for (;;) {
      const [first] = this.#pieces
      if (first === undefined || start < this.#from + first.length) break
      this.#shift(first)
    }
    let text = ''
    for (let at = start; at < end; ) {
      const [piece] = this.#pieces
      if (piece === undefined) break
      const part = piece.slice(at - this.#from, end - this.#from)
      text += part
      at += part.length
      if (at < end) this.#shift(piece)
    }
    return text
  }

  #shift(piece: string): void {
    this.#pieces.shift()
    this.#from += piece.length
  }
}
