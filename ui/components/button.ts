import { type Content, type Html, html } from '../html.ts'

export type ButtonKind = 'primary' | 'secondary' | 'danger' | 'quiet'

type ButtonProps = {
  label: Content
  kind?: ButtonKind
  small?: boolean
  /** Sent with the form, so that one page may hold several forms: `intent=leave`. */
  name?: string
  value?: string
  disabled?: boolean
  /** Sends the form as it is, with what is empty or wrong: the answer is the form again. */
  skipsChecks?: boolean
  /** Id of the text that says why it is disabled, or what it will do. */
  describedBy?: string
  /** What it acts on, for those who hear it out of context; starts with the visible label. */
  accessibleName?: string
}

/** Submits the form that it stands in. */
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

/** Looks like a button but goes somewhere. */
export const linkButton = (props: LinkButtonProps): Html => html`
  <a class=${buttonClass(props.kind ?? 'primary', props.small)} href=${props.href}>${props.label}</a>
`

/** The classes of a button, for the few elements that are neither of the two above. */
export function buttonClass(kind: ButtonKind, small = false): string {
  return `btn btn-${kind}${small ? ' btn-small' : ''}`
}
