import { type Html, html } from '../html.ts'

type CopyableProps = {
  /** What it is, for screen readers and above the text. */
  label: string
  text: string
}

/** Text to be copied whole: one click selects all of it. */
export const copyable = ({ label, text }: CopyableProps): Html => html`
  <figure class="copyable">
    <figcaption>${label}</figcaption>
    <pre tabindex="0" aria-label=${label} role="group"><code>${text}</code></pre>
  </figure>
`
