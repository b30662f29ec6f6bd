import { Marked, type Token, type Tokens, type TokensList } from 'marked'
import { headingIds } from './heading-id.ts'

export type Heading = { id: string; label: string; level: number }

/** A heading and the text up to the next one. */
export type Section = { heading: Heading; text: string }

export type RenderedDocument = {
  title: Heading
  /** Without the title. Its only markup is what Markdown makes; markup in the text is shown as text. */
  html: string
  sections: readonly Section[]
}

/** `href` of a link or picture in the document as an address, null if it leads nowhere. */
export type Resolve = (href: string) => string | null

const lexer = new Marked()

/** A document may have several parts with a title each; on a page there is one, and the others are a level below it. */
export function renderDocument(markdown: string, resolve: Resolve): RenderedDocument {
  const tokens = lexer.lexer(markdown)
  const headings = headingsOf(tokens)
  const [first] = headings.keys()
  const title = first === undefined ? undefined : headings.get(first)
  if (first === undefined || title === undefined) throw new Error('a document begins with its title')
  const body = tokens.filter((token) => token !== first && !isContents(token))
  const html = rendererOf(headings, resolve).parser(Object.assign(body, { links: tokens.links }))
  return { title, html, sections: sectionsOf(tokens, headings) }
}

/** The list of contents in a long file. On a page it stands beside the text. */
const isContents = ({ type, raw }: Token): boolean => type === 'paragraph' && raw.startsWith('Contents: ')

function headingsOf(tokens: TokensList): Map<Token, Heading> {
  const idOf = headingIds()
  const found = tokens.filter((token): token is Tokens.Heading => token.type === 'heading')
  const down = found.filter(({ depth }) => depth === 1).length > 1 ? 1 : 0
  return new Map(
    found.map((token, at) => {
      const label = plainText([token]).trim()
      return [token, { id: idOf(label), label, level: at === 0 ? 1 : token.depth + down }]
    }),
  )
}

function sectionsOf(tokens: TokensList, headings: ReadonlyMap<Token, Heading>): Section[] {
  const sections: { heading: Heading; parts: string[] }[] = []
  for (const token of tokens) {
    const heading = headings.get(token)
    if (heading !== undefined) sections.push({ heading, parts: [] })
    else if (!isContents(token)) sections.at(-1)?.parts.push(plainText([token]))
  }
  return sections.map(({ heading, parts }) => ({
    heading,
    text: parts.join(' ').replace(/\s+/g, ' ').trim(),
  }))
}

function plainText(tokens: readonly Token[]): string {
  return tokens.map(textOf).join('')
}

function textOf(token: Token): string {
  if (token.type === 'table') return tableText(token as Tokens.Table)
  if (token.type === 'list') return (token as Tokens.List).items.map((item) => ` ${textOf(item)}`).join('')
  if (token.type === 'br' || token.type === 'space') return ' '
  if (token.type === 'checkbox' || token.type === 'hr') return ''
  if ('tokens' in token && token.tokens !== undefined) return plainText(token.tokens)
  return 'text' in token ? unescaped(String(token.text)) : ''
}

const tableText = ({ header, rows }: Tokens.Table): string =>
  [header, ...rows].map((row) => row.map(({ tokens }) => ` ${plainText(tokens)}`).join('')).join('')

function rendererOf(headings: ReadonlyMap<Token, Heading>, resolve: Resolve): Marked {
  return new Marked({
    renderer: {
      heading(token) {
        const { id, level } = headings.get(token) ?? { id: '', level: token.depth }
        return `<h${level} id="${escaped(id)}">${this.parser.parseInline(token.tokens)}</h${level}>\n`
      },
      code: ({ text }) =>
        `<div class="copyable"><pre tabindex="0" role="group" aria-label="Code"><code>${escaped(text)}\n</code></pre></div>\n`,
      html: ({ text }) => escaped(text),
      link({ href, tokens }) {
        const address = resolve(href)
        const label = this.parser.parseInline(tokens)
        return address === null ? label : `<a href="${escaped(address)}">${label}</a>`
      },
      image({ href, text }) {
        const address = resolve(href)
        return address === null
          ? escaped(text)
          : `<img src="${escaped(address)}" alt="${escaped(text)}" loading="lazy">`
      },
      table(token) {
        const cells = (row: Tokens.TableCell[], tag: string) =>
          `<tr>${row.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('')}</tr>`
        const head = token.header.some(({ text }) => text !== '')
          ? `<thead>${cells(token.header, 'th')}</thead>`
          : ''
        const rows = token.rows.map((row) => cells(row, 'td')).join('\n')
        return `<div class="wide" tabindex="0" role="group" aria-label="Table"><table>${head}<tbody>${rows}</tbody></table></div>\n`
      },
    },
  })
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

const escaped = (text: string): string => text.replace(/[&<>"]/g, (one) => ESCAPES[one] ?? one)

const unescaped = (text: string): string =>
  text.replace(/&(amp|lt|gt|quot|#39);/g, (all, name) => UNESCAPES[name] ?? all)

const UNESCAPES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
