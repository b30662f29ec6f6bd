import { contentsOf, type Document, documentHref } from '../../src/modules/docs/service.ts'
import { type Html, html, markup } from '../components/html.ts'
import { docsLayout } from '../frame/layout.ts'
import { documentSearch } from './documents.ts'

/** One document, with the others and its own headings beside it. */
export const documentPage = (document: Document, all: readonly Document[]): Html =>
  docsLayout(
    document.title.label,
    html`
      <div class="docs-side">
        ${documentSearch()}
        ${onThisPage(document)}
        <nav aria-labelledby="all-documents">
          <p class="nav-label" id="all-documents">Documents</p>
          <ul>${all.map((other) => documentLink(other, other.name === document.name))}</ul>
        </nav>
      </div>
    `,
    html`
      <h1 id=${document.title.id}>${document.title.label}</h1>
      ${markup(document.html, 'doc-text')}
      <p class="small"><a href=${`/docs/${document.name}.md`}>This document as Markdown</a></p>
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
