import type { RecordPage } from '../../src/modules/records/manage.ts'
import type { SchemaView } from '../../src/modules/schemas/service.ts'
import { linkButton } from '../components/button.ts'
import { card } from '../components/card.ts'
import { formatCount } from '../components/chart.ts'
import { confirmDialog } from '../components/confirm.ts'
import { emptyState } from '../components/empty-state.ts'
import { hidden } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { notice } from '../components/notice.ts'
import { pagination, placePagination } from '../components/pagination.ts'
import type { Failed } from '../frame/project-request.ts'
import { type RecordsQuery, recordsQueryText } from './record-query.ts'
import { dataHref, schemaHref } from './data.ts'
import { type ProjectPageBase, projectFrame } from '../frame/project-frame.ts'
import { recordFilters } from './record-filters.ts'
import { recordTable } from './record-table.ts'

type RecordsPageProps = ProjectPageBase & {
  schema: SchemaView
  query: RecordsQuery
  /** Null when the query is invalid; `problem` says why. */
  found: RecordPage | null
  problem?: string | undefined
  failed?: Failed | undefined
}

/** The records of a schema. Sends `intent=delete-selected` with `selected.<id>` for each. */
export const recordsPage = (props: RecordsPageProps): Html =>
  projectFrame(
    props,
    {
      tab: 'data',
      title: props.schema.name,
      crumbs: [{ label: 'Data', href: dataHref(props.project.id) }],
      aside: html`
        <div class="actions">
          ${props.can.configureTraffic && linkButton({ label: 'New record', href: hrefOf(props, '/new') })}
          ${linkButton({
            label: props.can.configureTraffic ? 'Edit schema' : 'Schema',
            href: hrefOf(props, '/schema'),
            kind: 'secondary',
          })}
        </div>
      `,
    },
    html`
      ${(props.found === null || !isEmpty(props)) && recordFilters(props.schema, props.query)}
      ${props.problem !== undefined && refused(props, props.problem)}
      ${props.failed !== undefined && notice({ tone: 'bad', message: props.failed.error.message, live: true })}
      ${props.found !== null && (props.found.data.length === 0 ? nothing(props) : list(props, props.found))}
    `,
  )

/** Why the query is invalid, and how to fix it. The filters above can be removed one by one. */
const refused = (props: RecordsPageProps, problem: string): Html =>
  notice({
    tone: 'bad',
    message: html`${problem.replace(/\.$/, '')}. ${
      props.query.filters.length > 0 && 'Remove that filter, or '
    }<a href=${hrefOf(props, '')}>${props.query.filters.length > 0 ? 'show' : 'Show'} all records</a>.`,
    live: true,
  })

const hrefOf = ({ project, schema }: RecordsPageProps, rest: string): string =>
  schemaHref(project.id, schema.id, rest)

/** True when the schema has no records at all, regardless of the filters. */
const isEmpty = ({ found, query }: RecordsPageProps): boolean =>
  found?.pagination.total === 0 && query.filters.length === 0

function nothing(props: RecordsPageProps): Html {
  if (!isEmpty(props))
    return emptyState({
      icon: 'storage',
      title: 'Nothing found',
      text: 'No records match. Remove a filter.',
    })
  const hasFields = props.schema.fields.length > 0
  return emptyState(
    {
      icon: 'storage',
      title: 'No records yet',
      text: hasFields
        ? html`A pipeline stores them with <code>data_create</code> and <code>schemaId: $schema:${props.schema.name}</code>.`
        : 'The schema has no fields yet, so a record would be empty.',
    },
    props.can.configureTraffic &&
      (hasFields
        ? linkButton({ label: 'New record', href: hrefOf(props, '/new'), kind: 'secondary' })
        : linkButton({ label: 'Add fields', href: hrefOf(props, '/schema'), kind: 'secondary' })),
  )
}

const SELECTION = 'selection'

function list(props: RecordsPageProps, { data, pagination: at }: RecordPage): Html {
  const { schema, query, can } = props
  const total = at.total === 1 ? '1 record' : `${formatCount(at.total)} records`
  return html`
    ${card(
      { id: 'records', title: total, aside: exports(props) },
      html`
        ${recordTable({ schema, records: data, query, selectionForm: can.configureTraffic ? SELECTION : null })}
        ${can.configureTraffic && removal()}
      `,
    )}
    ${pager(props, data.length, at)}
  `
}

/** Pages by number, until one had no room for all its records: from there on by the place of the first record. */
function pager(props: RecordsPageProps, shown: number, at: RecordPage['pagination']): Html | null {
  const { query } = props
  const hrefTo = (place: Partial<RecordsQuery>) => hrefOf(props, recordsQueryText({ ...query, ...place }))
  if (query.offset === 0 && at.nextOffset === undefined)
    return pagination({ ...at, hrefOf: (page) => hrefTo({ page }) })
  const from = query.offset > 0 ? query.offset : (at.page - 1) * at.limit
  const hrefOfPlace = (offset: number) => hrefTo({ page: 1, offset })
  return placePagination({ from, shown, limit: at.limit, total: at.total, hrefOf: hrefOfPlace })
}

/** Exports with the same filters, newest first. Excel reads the CSV as UTF-8 by its mark. */
const exports = ({ schema, query }: RecordsPageProps): Html => html`
  <div class="actions">
    ${(['csv', 'json'] as const).map((format) =>
      linkButton({
        label: html`<span class="visually-hidden">Export </span>${format.toUpperCase()}`,
        href: `/api/schemas/${schema.id}/records/export${recordsQueryText(
          { filters: query.filters, sort: 'createdAt', order: 'desc', page: 1, offset: 0 },
          format === 'csv' ? { format, bom: 'true' } : { format },
        )}`,
        kind: 'secondary',
        small: true,
      }),
    )}
  </div>
`

const removal = (): Html =>
  confirmDialog(
    {
      id: 'delete-selected',
      formId: SELECTION,
      opener: 'Delete selected',
      title: 'Delete the selected records?',
      text: 'Their values are lost. This cannot be undone.',
      confirm: 'Delete the records',
    },
    hidden('intent', 'delete-selected'),
  )
