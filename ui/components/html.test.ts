import { expect, test } from 'bun:test'
import { html, page, raw, renderPage, safeHref } from './html.ts'

const addresses: [address: string, expected: string][] = [
  ['https://example.com/a?b=c#d', 'https://example.com/a?b=c#d'],
  ['http://nas:3000/', 'http://nas:3000/'],
  ['mailto:ada@example.com', 'mailto:ada@example.com'],
  ['/account', '/account'],
  ['?page=2', '?page=2'],
  ['#mfa', '#mfa'],
  ['', ''],
  ['/javascript:alert(1)', '/javascript:alert(1)'],
  ['//example.com/', '//example.com/'],
  ['//[', '#'],
  ['/\\[', '#'],
  ['javascript:alert(1)', '#'],
  ['JavaScript:alert(1)', '#'],
  [' javascript:alert(1)', '#'],
  ['java\tscript:alert(1)', '#'],
  ['java\nscript:alert(1)', '#'],
  ['\u0001javascript:alert(1)', '#'],
  ['data:text/html,<script>alert(1)</script>', '#'],
  ['vbscript:x', '#'],
  ['blob:https://example.com/x', '#'],
  ['file:///etc/passwd', '#'],
  ['http://[', '#'],
]

test.each(addresses)('safeHref of %j is %j', (address, expected) => {
  expect(safeHref(address)).toBe(expected)
})

const bad = 'javascript:alert(1)'
const image = 'data:image/svg+xml,%3Csvg/%3E'

const elements: [name: string, markup: ReturnType<typeof html>, expected: string][] = [
  ['text', html`<p>${'<b>&"'}</p>`, '<p>&lt;b>&amp;&quot;</p>'],
  ['an attribute', html`<p title=${'"><b>'}></p>`, '<p title="&quot;>&lt;b>"></p>'],
  ['a link', html`<a href=${bad}>x</a>`, '<a href="#">x</a>'],
  ['a spread link', html`<a ...${{ href: bad }}>x</a>`, '<a href="#">x</a>'],
  ['a form', html`<form action=${bad}></form>`, '<form action="#"></form>'],
  ['a button', html`<button formaction=${bad}></button>`, '<button formaction="#"></button>'],
  ['an image', html`<img src=${bad} />`, '<img src="#"/>'],
  ['a data image', html`<img src=${image} />`, `<img src="${image}"/>`],
  ['no address', html`<a href=${undefined}>x</a>`, '<a>x</a>'],
  ['a received object', html`<p>${{ type: 'b', props: { children: 'x' } }}</p>`, '<p></p>'],
  ['nothing', html`<p>${null}${undefined}${false}${true}${0}</p>`, '<p>0</p>'],
  [
    'inline svg',
    raw('<svg><path d="M0 0"/></svg>', 'a'),
    '<span class="a"><svg><path d="M0 0"/></svg></span>',
  ],
]

test.each(elements)('%s', (_name, markup, expected) => {
  expect(renderPage(markup)).toBe(`<!doctype html>${expected}`)
})

test('a page is HTML that is never stored, whatever the given headers say', async () => {
  const response = page(html`<p>hi</p>`, 403, { vary: 'cookie', 'cache-control': 'public' })
  expect(response.status).toBe(403)
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(response.headers.get('vary')).toBe('cookie')
  expect(await response.text()).toBe('<!doctype html><p>hi</p>')
})
