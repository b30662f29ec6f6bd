import { type Html, html } from './html.ts'

type ProgressProps = { id: string; label: string; value: number; max: number; text: string }

/** A progress bar. `text` says the same in words: "12 of 40 files". */
export const progress = ({ id, label, value, max, text }: ProgressProps): Html => html`
  <div class="progress">
    <label for=${id}>${label}</label><span class="muted">${text}</span>
    <progress id=${id} value=${value} max=${max}>${text}</progress>
  </div>
`
