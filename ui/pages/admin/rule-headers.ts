import { type FormError, field, fieldError, hidden, selectField } from '../../components/field.ts'
import { type Html, html } from '../../html.ts'
import type { ShownRule } from './rule.ts'
import { NEW_HEADERS, type RuleValues } from './rule-values.ts'

type HeaderFieldsProps = {
  stored: ShownRule['headers']
  values: RuleValues
  error: FormError | undefined
  /** May see stored values by other ways. Those of others are dropped when the target moves. */
  maySee: boolean
}

/**
 * Headers that a rule sets. Sends of each that is stored `header-0-name`, `-do` (`keep`, `replace`, `remove`) and
 * `-value`, and of new ones `new-0-name` and `-value`.
 */
export const headerFields = (props: HeaderFieldsProps): Html => html`
  ${
    props.stored.length > 0 &&
    !props.maySee &&
    html`<p class="hint">Stored values are dropped when you send requests to another server.</p>`
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
        { value: 'keep', label: hasValue ? 'Keep it' : 'None yet: leave it so' },
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
