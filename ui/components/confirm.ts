import { type ButtonKind, button, buttonClass } from './button.ts'
import { type Content, type Html, html } from './html.ts'

type ConfirmProps = {
  /** Unique on the page. */
  id: string
  /** The label of the button that opens the dialog. */
  opener: string
  /** The default is a small button, as in table rows. */
  openerKind?: ButtonKind
  /** The opener's name for screen readers: "Leave Docs". */
  accessibleName?: string
  title: string
  text: Content
  /** Where the form goes; the page itself unless given. */
  action?: string
  /** The form's id, for inputs elsewhere on the page. */
  formId?: string
  /** The label of the button that confirms: a verb, never "OK". */
  confirm: string
  /** Of something that can be taken back it is `primary`. */
  confirmKind?: ButtonKind
}

/**
 * Asks for confirmation before something irreversible: a button that opens a form over the page. It uses the popover
 * attribute and no script; a browser without popovers shows the form in place. `inputs` go inside the form.
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
      <form method="post" action=${props.action} class="stack" id=${props.formId}>
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
          ${button({ label: props.confirm, kind: props.confirmKind ?? 'danger' })}
        </div>
      </form>
    </div>
  </div>
`
