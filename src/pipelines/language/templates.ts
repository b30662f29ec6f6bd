import { type Expression, ExpressionError, evaluate, parseExpression, type Scope } from './expressions.ts'
import { JsonText, jsonOf } from './json-text.ts'

/** The kind of text around the values; it decides how `{{x}}` is escaped. */
export type TemplateMode = 'text' | 'json' | 'html'

type Piece =
  | string
  | {
      expression: Expression
      /** `{{{x}}}`: without escaping. */
      isRaw: boolean
      /** Inside the quotes of a JSON string. */
      isInString: boolean
    }

export type Template = {
  mode: TemplateMode
  pieces: readonly Piece[]
}

const MAX_TEMPLATE = 1024 * 1024
const MAX_TAGS = 10_000
/** The most characters of a rendered template: it may name a large value many times. */
const MAX_RENDERED = 16 * 1024 * 1024

/** The rendered text would be larger than `MAX_RENDERED`. */
export class TemplateTooLarge extends Error {}

export const hasTags = (text: string): boolean => text.includes('{{')

/**
 * `application/json` and `application/problem+json` are json; `text/html` and XML are html; everything else is text.
 */
export function templateModeOf(contentType: string): TemplateMode {
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? ''
  if (/^[\w.-]+\/([\w.-]+\+)?json$/.test(type)) return 'json'
  return /^(text\/html|[\w.-]+\/([\w.-]+\+)?xml)$/.test(type) ? 'html' : 'text'
}

/** Parses `{{x}}` and `{{{x}}}`. Throws `ExpressionError` with the position in the template. */
export function parseTemplate(source: string, mode: TemplateMode): Template {
  if (source.length > MAX_TEMPLATE)
    throw new ExpressionError(`A template has at most ${MAX_TEMPLATE} characters`, 0)
  const pieces: Piece[] = []
  const quotes = jsonQuotes(mode)
  for (let at = 0; at < source.length; ) {
    const open = source.indexOf('{{', at)
    if (open === -1) {
      pieces.push(source.slice(at))
      break
    }
    const tag = readTag(source, open)
    if (tag.start > at) pieces.push(source.slice(at, tag.start))
    if (quotes.pass(source.slice(at, tag.start)))
      throw new ExpressionError('In a JSON string, a backslash must not come right before a tag', tag.start)
    pieces.push({ expression: tag.expression, isRaw: tag.isRaw, isInString: quotes.isOpen() })
    if (pieces.length > MAX_TAGS * 2)
      throw new ExpressionError(`A template has at most ${MAX_TAGS} tags`, tag.start)
    at = tag.end
  }
  return { mode, pieces }
}

/** Renders in one pass: inserted values are never parsed again. */
export function renderTemplate(template: Template, scope: Scope): string {
  let text = ''
  for (const piece of template.pieces) {
    text += typeof piece === 'string' ? piece : insert(piece, template.mode, scope)
    if (text.length > MAX_RENDERED)
      throw new TemplateTooLarge(`The text is larger than ${MAX_RENDERED} characters`)
  }
  return text
}

/** Whether the result is JSON whatever the values are: the template is a single `{{{x}}}` of an object or array. */
export function isWholeValue({ pieces }: Template, scope: Scope): boolean {
  const tags = pieces.filter((piece) => typeof piece !== 'string' || piece.trim() !== '')
  const [only] = tags
  if (tags.length !== 1 || only === undefined || typeof only === 'string' || !only.isRaw) return false
  return evaluate(only.expression, scope) instanceof JsonText
}

function insert(piece: Exclude<Piece, string>, mode: TemplateMode, scope: Scope): string {
  const value = evaluate(piece.expression, scope)
  if (piece.isRaw) return typeof value === 'string' ? value : jsonOf(value)
  const text = textOf(value)
  if (mode === 'html') return escapeHtml(text)
  return piece.isInString ? JSON.stringify(text).slice(1, -1) : text
}

/** `{{x}}`: null becomes empty, an object becomes its JSON. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? jsonOf(value) : String(value)
}

const HTML: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (char) => HTML[char] ?? char)

type Tag = { start: number; end: number; isRaw: boolean; expression: Expression }

/** Reads the tag that opens here. Of four or more braces, the last three open it. */
function readTag(source: string, open: number): Tag {
  let braces = 2
  while (source[open + braces] === '{') braces++
  const isRaw = braces > 2
  const start = isRaw ? open + braces - 3 : open
  const inner = start + (isRaw ? 3 : 2)
  const closing = isRaw ? '}}}' : '}}'
  const close = findClosing(source, inner, closing)
  if (close === -1) throw new ExpressionError(`${source.slice(start, inner)} is never closed`, start)
  const text = source.slice(inner, close)
  if (text.trim() === '') throw new ExpressionError('Write an expression between the braces', start)
  return { start, end: close + closing.length, isRaw, expression: parseAt(text, inner) }
}

/**
 * Looks for the end after a complete expression first, because quotes in it may contain braces. Otherwise takes the
 * next closing braces. A lone quote is an ordinary character.
 */
function findClosing(source: string, from: number, closing: string): number {
  const expression = EXPRESSION.exec(source.slice(from, from + LONGEST_TAG))?.[0] ?? ''
  const end = from + expression.length
  return source.startsWith(closing, end) ? end : source.indexOf(closing, from)
}

const LONGEST_TAG = 2000
const QUOTED = String.raw`'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"`
const NAME = String.raw`[\p{L}\p{N}_$]+`
const EXPRESSION = new RegExp(
  String.raw`^\s*(?:${QUOTED}|${NAME}(?:\.${NAME}|\[(?:\d+|${QUOTED})\])*)\s*`,
  'su',
)

function parseAt(text: string, offset: number): Expression {
  try {
    return parseExpression(text)
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error
    const message = error.message.replace(/, at character \d+$/, '')
    throw new ExpressionError(message, offset + error.position)
  }
}

/** Tracks the template's own text to tell which tags are inside a JSON string. */
function jsonQuotes(mode: TemplateMode): {
  /** Returns true if the text ends in the middle of an escape. */
  pass(text: string): boolean
  isOpen(): boolean
} {
  let isOpen = false
  return {
    pass(text) {
      if (mode !== 'json') return false
      let at = 0
      for (; at < text.length; at++) {
        if (text[at] === '"') isOpen = !isOpen
        else if (isOpen && text[at] === '\\') at++
      }
      return at > text.length
    },
    isOpen: () => isOpen,
  }
}
