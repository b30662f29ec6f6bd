import { type Content, type Html, html } from './html.ts'

export type ButtonKind = 'primary' | 'secondary' | 'danger' | 'quiet'

type ButtonProps = {
  label: Content
  kind?: ButtonKind
  small?: boolean
  /** Sent with the form, so that a page can have several forms: `intent=leave`. */
  name?: string
  value?: string
  disabled?: boolean
  /** Skips the browser's checks. For buttons that only show the form again. */
  skipsChecks?: boolean
  /** Id of the text that says why the button is disabled or what it does. */
  describedBy?: string
  /** Names what the button acts on, for screen readers. Starts with the visible label. */
  accessibleName?: string
}

/** Submits the form around it. */
export const button = (props: ButtonProps): Html => html`
  <button
    type="submit"
    class=${buttonClass(props.kind ?? 'primary', props.small)}
    name=${props.name}
    value=${props.value}
    disabled=${props.disabled}
    formnovalidate=${props.skipsChecks}
    aria-describedby=${props.describedBy}
    aria-label=${props.accessibleName}
  >${props.label}</button>
`

type LinkButtonProps = { label: Content; href: string; kind?: ButtonKind; small?: boolean }

/** A link that looks like a button. */
export const linkButton = (props: LinkButtonProps): Html => html`
  <a class=${buttonClass(props.kind ?? 'primary', props.small)} href=${props.href}>${props.label}</a>
`

/** The classes of a button, for other elements. */
export function buttonClass(kind: ButtonKind, small = false): string {
  return `btn btn-${kind}${small ? ' btn-small' : ''}`
}
