import { type FormError, field, fieldError, hidden, selectField } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import type { ShownRule } from './rule.ts'
import { NEW_HEADERS, type RuleValues } from './rule-values.ts'

type HeaderFieldsProps = {
  stored: ShownRule['headers']
  values: RuleValues
  error: FormError | undefined
  /** The person may read stored values anyway. For anybody else, a new target server or Host drops the values. */
  maySee: boolean
}

/**
 * The headers that a rule sets. For each stored header it sends `header-0-name`, `-do` (`keep`, `replace`, `remove`)
 * and `-value`; for each new one `new-0-name` and `-value`.
 */
export const headerFields = (props: HeaderFieldsProps): Html => html`
  ${
    props.stored.length > 0 &&
    !props.maySee &&
    html`<p class="hint">If you change the target server or the host that it is told, the stored values are dropped.</p>`
  }
  ${props.stored.map((header, at) => storedHeader(props, header, `header-${at}`))}
  ${Array.from({ length: NEW_HEADERS }, (_, at) => newHeader(props, `new-${at}`, at + 1))}
`

const storedHeader = (
  { values, error }: HeaderFieldsProps,
  { name, hasValue }: ShownRule['headers'][number],
  at: string,
): Html => html`
  <div class="inline-form">
    ${hidden(`${at}-name`, name)}
    ${selectField({
      name: `${at}-do`,
      label: `Value of ${name}`,
      value: values[`${at}-do`] ?? 'keep',
      options: [
        { value: 'keep', label: hasValue ? 'Keep it' : 'No value yet: leave it empty' },
        { value: 'replace', label: 'Replace it' },
        { value: 'remove', label: 'Remove the header' },
      ],
    })}
    ${field({
      name: `${at}-value`,
      label: `New value of ${name}`,
      type: 'password',
      error: fieldError(error, `${at}-value`),
      autocomplete: 'new-password',
      required: false,
      isPlain: true,
    })}
  </div>
`

const newHeader = ({ values, error }: HeaderFieldsProps, at: string, number: number): Html => html`
  <div class="inline-form">
    ${field({
      name: `${at}-name`,
      label: `New header ${number}`,
      value: values[`${at}-name`],
      error: fieldError(error, `${at}-name`),
      placeholder: 'x-service-key',
      required: false,
      verbatim: true,
    })}
    ${field({
      name: `${at}-value`,
      label: `Value of new header ${number}`,
      type: 'password',
      error: fieldError(error, `${at}-value`),
      autocomplete: 'new-password',
      required: false,
      isPlain: true,
    })}
  </div>
`
