import { type Content, type Html, html } from './html.ts'

type CardProps = {
  /** The heading's id, unique on the page and a link target. */
  id: string
  title: string
  about?: Content
  /** Shown beside the title. */
  aside?: Content
}

/** A titled region of a page. */
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
