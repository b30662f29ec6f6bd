import { FIELD_TYPES } from '../../src/domain/field-types.ts'
import { button, linkButton } from '../components/button.ts'
import { checkbox, type FormError, field, fieldError, hidden, selectField } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { notice } from '../components/notice.ts'
import type { FieldRow } from './schema-form.ts'

type SchemaFieldsProps = {
  rows: readonly FieldRow[]
  /** If so, the types of stored fields cannot be changed. */
  hasRecords: boolean
  error: FormError | undefined
}

/** A group of inputs per field: `fields[0].name`, `.type`, `.required`, `.unique`, `.default`, `.remove`. */
export const schemaFields = (props: SchemaFieldsProps): Html => html`
  ${props.rows.map((row, at) => fieldRow(row, at, props))}
`

/** Saves, or asks for the same form with more rows. Enter triggers the first button. */
export const schemaButtons = (save: string, cancelHref?: string): Html => html`
  <div class="actions">
    ${button({ label: save, name: 'intent', value: 'save' })}
    ${button({ label: 'More fields', kind: 'secondary', name: 'intent', value: 'more', skipsChecks: true })}
    ${cancelHref !== undefined && linkButton({ label: 'Cancel', href: cancelHref, kind: 'secondary' })}
  </div>
`

function fieldRow(row: FieldRow, at: number, { hasRecords, error }: SchemaFieldsProps): Html {
  const name = (key: string) => `fields[${at}].${key}`
  const wrong = (key: string) => fieldError(error, name(key))
  return html`
    <div class="stack field-row" role="group" aria-labelledby=${`field-${at}`}>
      ${
        row.isStored
          ? html`<h3>Field <code id=${`field-${at}`}>${row.name}</code></h3>`
          : html`<h3 id=${`field-${at}`}>Field ${at + 1}</h3>`
      }
      <div class="columns">
        ${
          row.isStored
            ? html`${hidden(name('name'), row.name)}${hidden(name('stored'), 'true')}`
            : field({
                ...{ name: name('name'), label: 'Name', value: row.name, error: wrong('name') },
                ...{ required: false, isPlain: true, verbatim: true },
              })
        }
        ${selectField({
          name: name('type'),
          label: 'Type',
          value: row.type,
          error: wrong('type'),
          options: typesOf(row, hasRecords).map((type) => ({ value: type, label: type })),
        })}
        ${field({
          ...{ name: name('default'), label: 'Default', value: row.default, error: wrong('default') },
          ...{ required: false, verbatim: true },
        })}
        <div class="actions">
          ${checkbox({ name: name('required'), label: 'Required', checked: row.isRequired })}
          ${checkbox({ name: name('unique'), label: 'Unique', checked: row.isUnique })}
          ${row.isStored && checkbox({ name: name('remove'), label: 'Remove', checked: row.isRemoved })}
        </div>
      </div>
      ${uniqueError(wrong('unique'))}
    </div>
  `
}

const typesOf = (row: FieldRow, hasRecords: boolean): readonly string[] =>
  row.isStored && hasRecords ? [row.type] : FIELD_TYPES

const uniqueError = (message: string | undefined): Html | false =>
  message !== undefined && notice({ tone: 'bad', message })
