import { type Html, html } from './html.ts'

type CopyableProps = {
  /** The caption above the text, also for screen readers. */
  label: string
  text: string
  /** The name of the button to copy, if not `Copy: <label>`. */
  copyName?: string
}

/** Text to copy as a whole: one click selects all of it. */
export const copyable = ({ label, text, copyName }: CopyableProps): Html => html`
  <figure class="copyable" data-copy-name=${copyName}>
    <figcaption>${label}</figcaption>
    <pre tabindex="0" aria-label=${label} role="group"><code>${text}</code></pre>
  </figure>
`
