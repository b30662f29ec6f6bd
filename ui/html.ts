import htm from 'htm'
import { type ComponentChildren, h, type VNode } from 'preact'
import { render } from 'preact-render-to-string'
import { pageHeaders } from '../src/http/page-headers.ts'

/** What a page or a piece of one returns. */
export type Html = VNode

/** What may stand between two tags: text is escaped, null, undefined and booleans print nothing. */
export type Content = ComponentChildren

/** Builds escaped markup. Addresses in `href`, `action`, `formaction` and `src` are checked here, for every page. */
export const html = htm.bind(element) as (strings: TemplateStringsArray, ...values: unknown[]) => Html

/** The one place that turns a document into an answer, with the headers that protect it. */
export function page(document: Html, status = 200, headers: HeadersInit = {}): Response {
  const all = new Headers(headers)
  for (const [name, value] of Object.entries(PAGE_HEADERS)) all.set(name, value)
  return new Response(numbered(renderPage(document)), { status, headers: all })
}

const PAGE_HEADERS = pageHeaders("font-src 'self'", "form-action 'self'")

/** The bytes of `page`, for those who build their own Response. htm drops a doctype, so it is added here. */
export function renderPage(document: Html): string {
  return `<!doctype html>${render(document)}`
}

/** The address itself when it is http, https, mailto or relative; `#` for anything else, above all `javascript:`. */
export function safeHref(url: string): string {
  const parsed = URL.parse(url, 'http://relative.invalid/')
  return parsed !== null && LINKABLE.has(parsed.protocol) ? url : '#'
}

/** Inserts markup as it is. Only for SVG that is part of the executable; never for anything that was received. */
export function raw(svg: string, className: string): Html {
  return html`<span class=${className} dangerouslySetInnerHTML=${{ __html: svg }}></span>`
}

const LINKABLE: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:'])
const ADDRESS_ATTRIBUTES = ['href', 'action', 'formaction'] as const

function element(
  type: string,
  props: Record<string, unknown> | null,
  ...children: ComponentChildren[]
): Html {
  const all = type === 'form' && isPosted(props) ? [h('input', { ...SHEET_FIELD }), ...children] : children
  return h(type, props === null ? null : withSafeAddresses(props), ...all)
}

/** The field by which each showing of a form differs from the next: the same again is a second click (obey-once.ts). */
export const SHEET = '_sheet'

const SHEET_FIELD = { type: 'hidden', name: SHEET, value: 'new' }
/** As it is rendered; no text of a page can look like it, as quotes are escaped. */
const RENDERED_SHEET = `name="${SHEET}" value="new"`

const numbered = (page: string): string =>
  page.replaceAll(RENDERED_SHEET, `name="${SHEET}" value="${crypto.randomUUID()}"`)

/** Files are sent in parts, which are read as they come. */
const isPosted = (props: Record<string, unknown> | null): boolean =>
  props?.['method'] === 'post' && props['enctype'] === undefined

function withSafeAddresses(props: Record<string, unknown>): Record<string, unknown> {
  for (const name of ADDRESS_ATTRIBUTES) {
    const value = props[name]
    if (value !== undefined && value !== null) props[name] = safeHref(String(value))
  }
  const src = props['src']
  if (typeof src === 'string' && !src.startsWith('data:image/')) props['src'] = safeHref(src)
  return props
}
