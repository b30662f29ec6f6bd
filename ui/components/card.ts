import { type Content, type Html, html } from '../html.ts'

type CardProps = {
  /** Unique on the page: the heading's id, and a place to link to. */
  id: string
  title: string
  about?: Content
  /** Stands beside the title. */
  aside?: Content
}

/** One subject of a page: a titled region. */
export const card = ({ id, title, about, aside }: CardProps, body: Content): Html => html`
  <section class="card" aria-labelledby=${id}>
    <header class="card-head">
      <div>
        <h2 id=${id}>${title}</h2>
        ${about && html`<p class="muted">${about}</p>`}
      </div>
      ${aside}
    </header>
    ${body}
  </section>
`
