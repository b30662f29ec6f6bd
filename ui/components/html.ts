import htm from 'htm'
import { type ComponentChildren, h, type VNode } from 'preact'
import { render } from 'preact-render-to-string'
import { pageHeaders } from '../../src/http/page-headers.ts'

/** A page or a part of one. */
export type Html = VNode

/** The content between two tags. Text is escaped; null, undefined and booleans render nothing. */
export type Content = ComponentChildren

/** Builds escaped markup. Checks all URLs in `href`, `action`, `formaction` and `src`. */
export const html = htm.bind(element) as (strings: TemplateStringsArray, ...values: unknown[]) => Html

/** The only place that turns a document into a response, with its security headers. */
export function page(document: Html, status = 200, headers: HeadersInit = {}): Response {
  const all = new Headers(headers)
  for (const [name, value] of Object.entries(PAGE_HEADERS)) all.set(name, value)
  return new Response(numbered(renderPage(document)), { status, headers: all })
}

const PAGE_HEADERS = pageHeaders("font-src 'self'", "media-src 'self'", "form-action 'self'")

/** The headers of a page whose answer is made elsewhere. */
export const safePage: Readonly<Record<string, string>> = PAGE_HEADERS

/** The text of `page`, for callers that build their own Response. htm drops a doctype, so this adds it. */
export function renderPage(document: Html): string {
  return `<!doctype html>${render(document)}`
}

/** The markup of a part of a page, for a response that is changed on its way. */
export const renderPart = (part: Html): string => render(part)

/** Returns http, https, mailto and relative URLs unchanged, and `#` for anything else, especially `javascript:`. */
export function safeHref(url: string): string {
  if (BELOW_THIS_HOST.test(url)) return url
  const parsed = URL.parse(url, 'http://relative.invalid/')
  return parsed !== null && LINKABLE.has(parsed.protocol) ? url : '#'
}

/** Inserts raw markup. Only for SVG that is part of the executable, never for received data. */
export function raw(svg: string, className: string): Html {
  return html`<span class=${className} dangerouslySetInnerHTML=${{ __html: svg }}></span>`
}

/** Inserts what was made of our own documents. Never for received data. */
export function markup(made: string, className: string): Html {
  return html`<div class=${className} dangerouslySetInnerHTML=${{ __html: made }}></div>`
}

/** A path, a query or a fragment has no scheme. Most addresses are one, and reading each as a URL takes longer. */
const BELOW_THIS_HOST = /^[?#]|^\/(?![/\\])/
const LINKABLE: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:'])
const ADDRESS_ATTRIBUTES = ['href', 'action', 'formaction'] as const

function element(
  type: string,
  props: Record<string, unknown> | null,
  ...children: ComponentChildren[]
): Html {
  const all = type === 'form' && isPosted(props) ? [h('input', { ...PAGE_ID_INPUT }), ...children] : children
  return h(type, props === null ? null : withSafeAddresses(props), ...all)
}

/** The hidden field with an id per rendered page. A form that repeats an id is a second click (obey-once.ts). */
export const PAGE_ID = '_page_id'

const PAGE_ID_INPUT = { type: 'hidden', name: PAGE_ID, value: 'new' }
/** The rendered markup. No text of a page can match it, because quotes are escaped. */
const RENDERED_INPUT = `name="${PAGE_ID}" value="new"`

/** Each form of a page or of a part gets the page's id. */
export const numbered = (page: string): string =>
  page.replaceAll(RENDERED_INPUT, `name="${PAGE_ID}" value="${crypto.randomUUID()}"`)

/** Forms with files are multipart and are read as a stream. */
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
