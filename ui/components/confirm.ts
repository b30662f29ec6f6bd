import { type Content, type Html, html } from '../html.ts'
import { type ButtonKind, button, buttonClass } from './button.ts'

type ConfirmProps = {
  /** Unique on the page. */
  id: string
  /** On the button that opens it. */
  opener: string
  /** Without one it is a small button, as in the rows of a table. */
  openerKind?: ButtonKind
  /** The opener's name out of context: "Leave Docs". */
  accessibleName?: string
  title: string
  text: Content
  /** Of the form, for inputs that stand elsewhere on the page. */
  formId?: string
  /** On the button that does it: a verb, never "OK". */
  confirm: string
}

/**
 * A question before something that cannot be taken back: a button, and a form that opens over the page. It needs no
 * script (the popover attribute); a browser without it shows the form in place. `inputs` stand inside the form.
 */
export const confirmDialog = (props: ConfirmProps, inputs: Content): Html => html`
  <div class="confirm" data-opens=${props.formId}>
    <button
      type="button"
      class=${buttonClass(props.openerKind ?? 'secondary', props.openerKind === undefined)}
      popovertarget=${props.id}
      aria-haspopup="dialog"
      aria-label=${props.accessibleName}
    >${props.opener}</button>
    <div id=${props.id} class="dialog" popover role="dialog" aria-labelledby=${`${props.id}-title`}>
      <form method="post" class="stack" id=${props.formId}>
        <h2 id=${`${props.id}-title`}>${props.title}</h2>
        <p>${props.text}</p>
        ${inputs}
        <div class="actions">
          <button
            type="button"
            class=${buttonClass('secondary')}
            popovertarget=${props.id}
            popovertargetaction="hide"
            autofocus
          >Cancel</button>
          ${button({ label: props.confirm, kind: 'danger' })}
        </div>
      </form>
    </div>
  </div>
`
