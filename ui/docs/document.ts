import { contentsOf, type Document, documentHref } from '../../src/modules/docs/service.ts'
import { type Html, html, markup } from '../components/html.ts'
import { docsLayout } from '../frame/layout.ts'
import { documentSearch } from './documents.ts'

/** One document, with its own headings beside it and the others below. */
export const documentPage = (document: Document, all: readonly Document[]): Html =>
  docsLayout(
    document.title.label,
    html`
      <div class="docs-side">
        ${documentSearch()}
        ${onThisPage(document)}
      </div>
    `,
    html`
      <h1 id=${document.title.id}>${document.title.label}</h1>
      ${markup(document.html, 'doc-text')}
      <p class="small"><a href=${`/docs/${document.name}.md`}>This document as Markdown</a></p>
    `,
    html`
      <nav class="docs-more" aria-labelledby="all-documents">
        <p class="nav-label" id="all-documents">All documents</p>
        <ul class="docs-contents">${all.map((other) => documentLink(other, other.name === document.name))}</ul>
      </nav>
    `,
  )

const onThisPage = (document: Document): Html => html`
  <nav aria-labelledby="on-this-page">
    <p class="nav-label" id="on-this-page">On this page</p>
    <ul>
      ${contentsOf(document).map(({ id, label }) => html`<li><a href=${`#${id}`}>${label}</a></li>`)}
    </ul>
  </nav>
`

const documentLink = ({ name, title }: Document, isCurrent: boolean): Html => html`
  <li><a href=${documentHref(name)} aria-current=${isCurrent ? 'page' : undefined}>${title.label}</a></li>
`
