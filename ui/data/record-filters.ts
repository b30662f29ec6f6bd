import { RECORD_COLUMNS } from '../../src/domain/schema-fields.ts'
import type { TextFilter } from '../../src/modules/records/filters.ts'
import type { FilterOp } from '../../src/domain/record-words.ts'
import type { SchemaView } from '../../src/modules/schemas/service.ts'
import { field, hidden, selectField } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { icon } from '../components/icon.ts'
import { searchForm } from '../components/search-form.ts'
import { fromStart, type RecordsQuery, recordsQueryText } from './record-query.ts'
import { schemaHref } from './data.ts'

/** The operators in words that fit numbers, texts and times. */
const OPERATORS: readonly [op: FilterOp, label: string][] = [
  ['eq', 'is'],
  ['ne', 'is not'],
  ['like', 'contains'],
  ['gt', 'is above'],
  ['gte', 'is at least'],
  ['lt', 'is below'],
  ['lte', 'is at most'],
  ['in', 'is one of'],
]

/** The active filters, each with a link that removes it, and a form that adds one. */
export function recordFilters(schema: SchemaView, query: RecordsQuery): Html {
  const names = [...schema.fields.map(({ name }) => name), ...RECORD_COLUMNS]
  return html`
    ${searchForm(
      'Filter records',
      html`
        ${selectField({
          name: 'field',
          label: 'Field',
          value: names[0],
          options: names.map((name) => ({ value: name, label: LABELS[name] ?? name })),
        })}
        ${selectField({
          name: 'op',
          label: 'Comparison',
          options: OPERATORS.map(([value, label]) => ({ value, label })),
        })}
        ${field({ name: 'value', label: 'Value', required: false, isPlain: true, verbatim: true })}
        ${kept(query)}
      `,
      query.filters.length > 0 ? schemaHref(schema.projectId, schema.id) : undefined,
      query.filters.length > 0 ? 'Add filter' : 'Filter',
    )}
    ${
      query.filters.length > 0 &&
      html`<ul class="actions" aria-label="Filters">
        ${query.filters.map((filter, at) => html`<li>${applied(schema, query, filter, at)}</li>`)}
      </ul>`
    }
  `
}

const LABELS: Readonly<Record<string, string>> = { createdAt: 'Created', updatedAt: 'Changed' }

/** Hidden fields for the rest of the query, which a GET form would drop. */
const kept = (query: RecordsQuery): (Html | null)[] =>
  [...new URLSearchParams(recordsQueryText(fromStart(query)))].map(([name, value]) => hidden(name, value))

function applied(schema: SchemaView, query: RecordsQuery, filter: TextFilter, at: number): Html {
  const others = query.filters.filter((_, other) => other !== at)
  const rest = recordsQueryText(fromStart({ ...query, filters: others }))
  const text = filterText(filter)
  return html`
    <a
      class="btn btn-secondary btn-small"
      href=${schemaHref(schema.projectId, schema.id, rest)}
      aria-label=${`${text}: remove this filter`}
    >${text}${icon('close')}</a>
  `
}

function filterText({ field: name, op, value }: TextFilter): string {
  const word = OPERATORS.find(([one]) => one === op)?.[1] ?? op
  const text = Array.isArray(value) ? value.join(', ') : value
  return `${LABELS[name] ?? name} ${word} ${op === 'like' ? text.replace(/^%(.*)%$/s, '$1') : text}`
}
