import type { SchemaField } from '../../src/domain/schema-fields.ts'
import type { RecordView } from '../../src/modules/records/service.ts'
import type { SchemaView } from '../../src/modules/schemas/service.ts'
import { type Content, type Html, html } from '../components/html.ts'
import { time } from '../components/time.ts'
import { fromStart, type RecordsQuery, recordsQueryText } from './record-query.ts'
import { schemaHref } from './data.ts'
import { isNumeric, recordName, valueCell } from './record-value.ts'

type RecordTableProps = {
  schema: SchemaView
  records: readonly RecordView[]
  query: RecordsQuery
  /** Id of the form that sends the selected records; null if the person may not change records. */
  selectionForm: string | null
}

type Column = { label: string; sort: string; isNumber?: boolean; cell: (record: RecordView) => Content }

/**
 * Records as rows. On a phone each record becomes a block that starts with its name, and the header row still sorts.
 * Roles are explicit for the same reason as in `table`.
 */
export const recordTable = (props: RecordTableProps): Html => html`
  <div class="scroll" role="region" aria-label="Table of records" tabindex="0">
    <table class="grid" role="table">
      <caption class="visually-hidden">Records</caption>
      <thead role="rowgroup">
        <tr role="row">
          ${props.selectionForm !== null && html`<td role="cell" data-selection=${props.selectionForm}></td>`}
          ${columnsOf(props).map((column) => headCell(column, props))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        ${props.records.map((record) => row(record, props))}
      </tbody>
    </table>
  </div>
`

const columnsOf = ({ schema }: RecordTableProps): Column[] => [
  ...schema.fields.slice(0, 1).map((field) => ({ ...ofField(field), cell: nameCell(schema) })),
  ...(schema.fields.length === 0 ? [{ label: 'Record', sort: 'id', cell: nameCell(schema) }] : []),
  ...schema.fields.slice(1).map(ofField),
  { label: 'Created', sort: 'createdAt', cell: ({ createdAt }: RecordView) => time(createdAt) },
  { label: 'Changed', sort: 'updatedAt', cell: ({ updatedAt }: RecordView) => time(updatedAt) },
]

const ofField = (field: SchemaField): Column => ({
  label: field.name,
  sort: field.name,
  isNumber: isNumeric(field),
  cell: (record) => valueCell(field, record[field.name]),
})

const nameCell = (schema: SchemaView) => (record: RecordView) =>
  html`
  <a href=${schemaHref(schema.projectId, schema.id, `/${record.id}`)}>${recordName(schema.fields, record)}</a>
`

/** A header cell sorts by its column. Clicking it again reverses the order. */
function headCell({ label, sort, isNumber }: Column, { schema, query }: RecordTableProps): Html {
  const isSorted = query.sort === sort
  const order = isSorted && query.order === 'asc' ? 'desc' : 'asc'
  const direction = query.order === 'asc' ? 'ascending' : 'descending'
  const rest = recordsQueryText(fromStart({ ...query, sort, order }))
  return html`
    <th
      scope="col"
      role="columnheader"
      class=${isNumber ? 'end' : undefined}
      aria-sort=${isSorted ? direction : undefined}
    >
      <a href=${schemaHref(schema.projectId, schema.id, rest)}>${label}${isSorted && arrow(query.order)}</a>
    </th>
  `
}

const arrow = (order: RecordsQuery['order']): Html =>
  html`<span aria-hidden="true"> ${order === 'asc' ? '↑' : '↓'}</span>`

function row(record: RecordView, props: RecordTableProps): Html {
  const [first, ...others] = columnsOf(props)
  return html`
    <tr role="row">
      ${
        props.selectionForm !== null &&
        html`
          <td role="cell">
            <input
              type="checkbox"
              class="tick"
              name=${`selected.${record.id}`}
              value="true"
              form=${props.selectionForm}
              aria-label=${`Select ${recordName(props.schema.fields, record)}`}
            />
          </td>
        `
      }
      <th scope="row" role="rowheader"><div class="clip">${first?.cell(record)}</div></th>
      ${others.map(
        ({ label, cell, isNumber }) => html`
          <td role="cell" class=${isNumber ? 'end' : undefined} data-label=${label}>
            <div class="clip">${cell(record)}</div>
          </td>
        `,
      )}
    </tr>
  `
}
