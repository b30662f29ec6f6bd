import { contentsOf, type Document, documentHref, type Found } from '../../src/modules/docs/service.ts'
import { button } from '../components/button.ts'
import { field } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { docsLayout } from '../frame/layout.ts'

type FoundFor = { query: string; results: readonly Found[] }

/** All documents with their contents, or what was found in them. */
export const documentsPage = (all: readonly Document[], found: FoundFor | undefined): Html =>
  docsLayout(
    'Documents',
    null,
    html`
      <h1>Documents</h1>
      ${documentSearch(found?.query)}
      ${found === undefined ? all.map(contents) : results(found)}
    `,
  )

export const documentSearch = (query?: string): Html => html`
  <form method="get" action="/docs" role="search" class="search" aria-label="Documents">
    ${field({
      name: 'q',
      label: 'Search the documents',
      type: 'search',
      value: query?.slice(0, MAX_SHOWN),
      required: false,
      isPlain: true,
    })}
    <div class="actions">
      ${button({ label: 'Search', kind: 'secondary' })}
      ${query !== undefined && html`<a href="/docs">Clear</a>`}
    </div>
  </form>
`

/** Nobody reads more of a query that somebody pasted. */
const MAX_SHOWN = 200

const contents = (document: Document): Html => html`
  <section>
    <h2><a href=${documentHref(document.name)}>${document.title.label}</a></h2>
    <ul class="docs-contents">
      ${contentsOf(document).map(
        ({ id, label }) => html`<li><a href=${documentHref(document.name, id)}>${label}</a></li>`,
      )}
    </ul>
  </section>
`

const results = ({ query, results: found }: FoundFor): Html => html`
  <section>
    <h2>${found.length === 0 ? 'Nothing found' : `Found ${plural(found.length, 'paragraph')}`}</h2>
    ${
      found.length === 0 &&
      html`<p>No paragraph has all the words of “${query.slice(0, MAX_SHOWN)}”. Try fewer, or other ones.</p>`
    }
    <ol class="docs-found">${found.map(result)}</ol>
  </section>
`

const result = ({ page, heading, id, excerpt }: Found): Html => html`
  <li>
    <h3><a href=${documentHref(page, id)}>${heading}</a></h3>
    <p class="muted small">${page}</p>
    <p>${excerpt}</p>
  </li>
`

const plural = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`
