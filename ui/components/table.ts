import { type Content, type Html, html } from './html.ts'

export type Column<Row> = {
  label: string
  cell: (row: Row) => Content
  /** Right-aligned: numbers and sizes, so that they can be compared, and actions. */
  align?: 'end'
  /** Shows the label to screen readers only, for example above a column of buttons. */
  hideLabel?: boolean
}

type TableProps<Row> = {
  /** The table's name for screen readers. */
  caption: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  /** On a phone the values of a row follow each other, for long lists that are scanned rather than read. */
  isDense?: boolean
}

/**
 * A table of facts. On a phone each row becomes a block of labels and values. Roles are explicit because changing
 * `display` removes the implicit ones. The first column is the row header.
 */
export function table<Row>({ caption, columns, rows, isDense = false }: TableProps<Row>): Html {
  return html`
    <table class=${isDense ? 'table dense' : 'table'} role="table">
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
