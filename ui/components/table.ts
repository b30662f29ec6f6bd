import { type Content, type Html, html } from '../html.ts'

export type Column<Row> = {
  label: string
  cell: (row: Row) => Content
  /** Numbers and sizes stand right, so that they can be compared; actions do too. */
  align?: 'end'
  /** The label is for screen readers only, as above a column of buttons. */
  hideLabel?: boolean
}

type TableProps<Row> = {
  /** Names the table for screen readers. */
  caption: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
}

/**
 * Rows of facts. On a phone each row becomes a block of label and value; the roles are written out because changing
 * `display` takes them from the elements. The first column names its row.
 */
export function table<Row>({ caption, columns, rows }: TableProps<Row>): Html {
  return html`
    <table class="table" role="table">
      <caption class="visually-hidden">${caption}</caption>
      <thead role="rowgroup">
        <tr role="row">${columns.map(headCell)}</tr>
      </thead>
      <tbody role="rowgroup">
        ${rows.map((row) => html`<tr role="row">${columns.map((column, at) => bodyCell(column, row, at))}</tr>`)}
      </tbody>
    </table>
  `
}

function headCell<Row>(column: Column<Row>): Html {
  const label = column.hideLabel ? html`<span class="visually-hidden">${column.label}</span>` : column.label
  return html`<th scope="col" role="columnheader" class=${alignClass(column)}>${label}</th>`
}

function bodyCell<Row>(column: Column<Row>, row: Row, at: number): Html {
  if (at === 0) return html`<th scope="row" role="rowheader">${column.cell(row)}</th>`
  const label = column.hideLabel ? undefined : column.label
  return html`<td role="cell" class=${alignClass(column)} data-label=${label}>${column.cell(row)}</td>`
}

function alignClass<Row>(column: Column<Row>): string | undefined {
  return column.align === 'end' ? 'end' : undefined
}
