import type { Context } from '../../context.ts'
import { csvCell } from '../../domain/csv-cell.ts'
import { invalidField } from '../../domain/errors.ts'
import type { Grant } from '../auth/authorize.ts'
import type { ProjectAnalytics, ProjectAnalyticsQuery } from './model.ts'
import { getProjectAnalytics } from './service.ts'

type Row = Readonly<Record<string, string | number>>

/** Each with its columns, since a table may be empty. */
const TABLES = {
  series: {
    columns: ['at', 'views', 'visitors', 'requests', 'bots', 'bytes', 'notFound', 'errors'],
    rows: ({ series }) => series,
  },
  pages: { columns: ['path', 'views'], rows: ({ pages }) => pages },
  referrers: { columns: ['host', 'views'], rows: ({ referrers }) => referrers },
  statuses: { columns: ['status', 'requests'], rows: ({ statuses }) => statuses },
  missing: { columns: ['path', 'requests'], rows: ({ missing }) => missing },
} as const satisfies Record<
  string,
  { columns: readonly string[]; rows: (analytics: ProjectAnalytics) => readonly Row[] }
>
type Table = keyof typeof TABLES

/** One table of the project's analytics, with a line of names first. Throws `invalid` for another table. contract 17.7. */
export async function analyticsCsv(
  ctx: Context,
  grant: Grant,
  { format: _, table, ...query }: ProjectAnalyticsQuery,
): Promise<Response> {
  if (!isTable(table)) throw invalidField('table', `One of ${Object.keys(TABLES).join(', ')}`)
  const { columns, rows } = TABLES[table]
  const found: readonly Row[] = rows(await getProjectAnalytics(ctx, grant, query))
  const lines = [columns, ...found.map((row) => columns.map((column) => row[column]))]
  return new Response(lines.map((cells) => `${cells.map(csvCell).join(',')}\r\n`).join(''), {
    headers: {
      'content-type': 'text/csv; charset=utf-8; header=present',
      'content-disposition': `attachment; filename="${table}.csv"`,
      'cache-control': 'no-store',
    },
  })
}

const isTable = (text: string | undefined): text is Table => text !== undefined && Object.hasOwn(TABLES, text)
