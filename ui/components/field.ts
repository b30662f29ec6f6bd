import { h } from 'preact'
import { type Content, type Html, html } from './html.ts'
import { notice } from './notice.ts'

/** Why a form was rejected. An AppError fits this type. `details` name the field by its `path`. */
export type FormError = {
  message: string
  code?: string | undefined
  /** The status of the response that shows the form again. */
  status?: number | undefined
  details?: readonly { path: string; message: string }[] | undefined
}

export type FieldProps = {
  name: string
  label: string
  /** Unique on the page. The default is the name; set it if two forms share the name. */
  id?: string
  type?: 'text' | 'email' | 'password' | 'search' | 'url' | 'number' | 'date'
  value?: string | undefined
  hint?: Content
  error?: string | undefined
  autocomplete?: string
  inputmode?: 'numeric' | 'text'
  pattern?: string
  placeholder?: string
  minlength?: number
  maxlength?: number
  required?: boolean
  autofocus?: boolean
  /** For codes, keys and names: turns off capitalisation and spell checking. */
  verbatim?: boolean
  /** The id of a datalist with suggestions. */
  list?: string
  /** Leaves out "(optional)", for forms where every field may be empty, such as a search. */
  isPlain?: boolean
}

/** A labelled input with its hint and error, both linked to it for screen readers. */
export function field(props: FieldProps): Html {
  const id = props.id ?? props.name
  return html`
    <div class="field">
      <label for=${id}>${props.label}${optionalMark(props)}</label>
      ${hintAndError(id, props)}
      <input
        id=${id}
        name=${props.name}
        type=${props.type ?? 'text'}
        value=${props.value}
        autocomplete=${props.autocomplete ?? 'off'}
        inputmode=${props.inputmode}
        pattern=${props.pattern}
        list=${props.list}
        placeholder=${props.placeholder}
        minlength=${props.minlength}
        maxlength=${props.maxlength}
        required=${props.required ?? true}
        autofocus=${props.autofocus}
        autocapitalize=${props.verbatim ? 'none' : undefined}
        spellcheck=${props.verbatim ? 'false' : undefined}
        aria-describedby=${describedBy(id, props)}
        aria-invalid=${props.error ? 'true' : undefined}
      />
    </div>
  `
}

type TextAreaProps = {
  name: string
  label: string
  hint?: Content
  error?: string | undefined
  /** Omit it for a secret, so that the page does not show the typed text again. */
  value?: string | undefined
  rows?: number
  required?: boolean
  isPlain?: boolean
}

/** Several lines of code, keys or lists. */
export const textArea = (props: TextAreaProps): Html => html`
  <div class="field">
    <label for=${props.name}>${props.label}${optionalMark(props)}</label>
    ${hintAndError(props.name, props)}
    <textarea
      id=${props.name}
      name=${props.name}
      rows=${props.rows ?? 3}
      autocomplete="off"
      autocapitalize="none"
      spellcheck="false"
      required=${props.required ?? true}
      aria-describedby=${describedBy(props.name, props)}
      aria-invalid=${props.error ? 'true' : undefined}
    >${props.value}</textarea>
  </div>
`

type SelectProps = {
  name: string
  label: string
  id?: string
  value?: string | undefined
  options: readonly { value: string; label: string }[]
  hint?: Content
  error?: string | undefined
}

export function selectField(props: SelectProps): Html {
  const id = props.id ?? props.name
  return html`
    <div class="field">
      <label for=${id}>${props.label}</label>
      ${hintAndError(id, props)}
      <select
        id=${id}
        name=${props.name}
        aria-describedby=${describedBy(id, props)}
        aria-invalid=${props.error ? 'true' : undefined}
      >
        ${props.options.map(({ value, label }) => h('option', { value, selected: value === props.value }, label))}
      </select>
    </div>
  `
}

type CheckboxProps = { name: string; label: string; id?: string; checked?: boolean; hint?: Content }

/** Sends `name=true` when ticked and nothing otherwise. */
export function checkbox(props: CheckboxProps): Html {
  const id = props.id ?? props.name
  return html`
    <div class="check">
      <input
        id=${id}
        name=${props.name}
        type="checkbox"
        value="true"
        checked=${props.checked}
        aria-describedby=${props.hint ? `${id}-hint` : undefined}
      />
      <div>
        <label for=${id}>${props.label}</label>
        ${props.hint && html`<p class="hint" id=${`${id}-hint`}>${props.hint}</p>`}
      </div>
    </div>
  `
}

export const hidden = (name: string, value: string | undefined): Html | null =>
  value === undefined ? null : html`<input type="hidden" name=${name} value=${value} />`

/** Tells password managers which account the password belongs to. It is not sent. */
export const accountHint = (email: string): Html => html`
  <input
    type="email"
    class="visually-hidden"
    value=${email}
    autocomplete="username"
    aria-label="Account"
    aria-hidden="true"
    tabindex="-1"
    readonly
  />
`

/** The sentence above a rejected form. */
export const formError = (error: FormError | undefined): Html | null =>
  error === undefined ? null : notice({ tone: 'bad', message: sentence(error.message), live: true })

/** The sentence above a form on one line, whose field is next to it; null if the field says the same. */
export const lineError = (error: FormError | undefined): Html | null =>
  error?.details?.some(({ message }) => message === error.message) ? null : formError(error)

/** The error of one field. */
export function fieldError(error: FormError | undefined, name: string): string | undefined {
  const message = error?.details?.find((detail) => detail.path === name)?.message
  return message && sentence(message)
}

/** Some messages of the API are parts of a sentence or end without a full stop. A page shows whole ones. */
export const sentence = (message: string): string =>
  message.replace(/^[a-z](?=[a-z]* )/, (first) => first.toUpperCase()).replace(/[^.!?…]$/, '$&.')

/** The name of the field to focus: the first with an error, else the page's choice. */
export function startField(error: FormError | undefined, otherwise: string): string {
  return error?.details?.[0]?.path ?? otherwise
}

type Explained = { hint?: Content; error?: string | undefined }

function hintAndError(id: string, { hint, error }: Explained): (Html | false)[] {
  return [
    hasText(hint) && html`<p class="hint" id=${`${id}-hint`}>${hint}</p>`,
    hasText(error) && html`<p class="field-error" id=${`${id}-error`}>${error}</p>`,
  ]
}

function describedBy(id: string, { hint, error }: Explained): string | undefined {
  const ids = [hasText(error) && `${id}-error`, hasText(hint) && `${id}-hint`].filter(Boolean)
  return ids.length === 0 ? undefined : ids.join(' ')
}

function optionalMark(props: Pick<FieldProps, 'required' | 'isPlain'>): Html | null {
  return props.required === false && !props.isPlain ? html`<span class="optional"> (optional)</span>` : null
}

function hasText(content: Content): boolean {
  return content !== undefined && content !== null && content !== false && content !== ''
}
