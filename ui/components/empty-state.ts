import { type Content, type Html, html } from './html.ts'
import { type IconName, icon } from './icon.ts'

type EmptyStateProps = { icon: IconName; title: string; text: Content }

/** Takes the place of an empty list and says how to add the first item. */
export const emptyState = (props: EmptyStateProps, body?: Content): Html => html`
  <div class="empty">
    ${icon(props.icon)}
    <h2>${props.title}</h2>
    <p class="muted">${props.text}</p>
    ${body}
  </div>
`
