import type { Paginated } from '../../src/domain/pagination.ts'
import { AUDIT_GROUPS, type AuditEntry } from '../../src/modules/logs/service.ts'
import { emptyState } from '../components/empty-state.ts'
import { field, selectField } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { notice } from '../components/notice.ts'
import { pagination } from '../components/pagination.ts'
import { searchForm } from '../components/search-form.ts'
import { type Column, table } from '../components/table.ts'
import { time } from '../components/time.ts'
import { queryText } from '../frame/project-request.ts'
import { undoForm } from '../frame/undo-form.ts'

/** Empty text does not filter. `from` and `to` are days. */
export type AuditFilters = Readonly<
  Record<'group' | 'action' | 'projectId' | 'actorId' | 'from' | 'to', string>
>

/** Changes with the filters that found them. */
export type AuditList = {
  /** Null when the filters are invalid; `problem` says why. */
  found: Paginated<AuditEntry> | null
  problem?: string | undefined
  filters: AuditFilters
  /** To choose from. None within one project. */
  projects?: readonly { id: string; owner: string; name: string }[]
  /** Who has changed something. */
  actors: readonly { id: string; name: string | null }[]
}

/** The filters of the list at `href`, and what they found. */
export const auditList = (list: AuditList, href: string): Html => html`
  ${searchForm('Audit log', filterFields(list), isFiltered(list.filters) ? href : undefined, 'Filter')}
  ${list.problem !== undefined && notice({ tone: 'bad', message: list.problem, live: true })}
  ${list.found !== null && entries(list.found, list.filters, href)}
`

const isFiltered = (filters: AuditFilters): boolean => Object.values(filters).some((text) => text !== '')

const entries = (found: Paginated<AuditEntry>, filters: AuditFilters, href: string): Html => html`
  ${
    found.data.length === 0
      ? emptyState({
          icon: 'clock',
          title: 'Nothing found',
          text: 'No changes match. Remove a filter or choose a longer period.',
        })
      : table<AuditEntry>({
          caption: 'Changes',
          isDense: true,
          rows: found.data,
          columns: columns(`${href}${queryText({ ...filters, page: found.pagination.page })}`),
        })
  }
  ${pagination({ ...found.pagination, hrefOf: (page) => `${href}${queryText({ ...filters, page })}` })}
`

const ANYTHING = { value: '', label: 'Anything' }

const filterFields = ({ filters, projects, actors }: AuditList): Html => html`
  ${selectField({
    name: 'group',
    label: 'What',
    value: filters.group,
    options: [ANYTHING, ...AUDIT_GROUPS.map((group) => ({ value: group, label: capitalised(group) }))],
  })}
  ${selectField({
    name: 'actorId',
    label: 'Who',
    value: filters.actorId,
    options: [{ value: '', label: 'Anybody' }, ...actorOptions(actors, filters.actorId)],
  })}
  ${
    projects !== undefined &&
    selectField({
      name: 'projectId',
      label: 'Project',
      value: filters.projectId,
      options: [
        ANYTHING,
        ...projects.map(({ id, owner, name }) => ({ value: id, label: `${owner}/${name}` })),
      ],
    })
  }
  ${field({ name: 'from', label: 'From', type: 'date', value: filters.from, required: false, isPlain: true })}
  ${field({ name: 'to', label: 'To', type: 'date', value: filters.to, required: false, isPlain: true })}
  ${filters.action !== '' && html`<input type="hidden" name="action" value=${filters.action} />`}
`

const capitalised = (word: string): string =>
  word === 'keys' ? 'Keys and secrets' : `${word.charAt(0).toUpperCase()}${word.slice(1)}`

/** An address may name somebody who is not among them. */
function actorOptions(actors: AuditList['actors'], chosen: string) {
  const options = actors.map(({ id, name }) => ({ value: id, label: name ?? id }))
  const isThere = chosen === '' || options.some(({ value }) => value === chosen)
  return isThere ? options : [...options, { value: chosen, label: chosen }]
}

const columns = (back: string): Column<AuditEntry>[] => [
  {
    label: 'Change',
    cell: (entry) => html`<div class="roomy">${entry.sentence}</div>${rawValues(entry)}`,
  },
  { label: 'When', align: 'end', cell: ({ at }) => time(at) },
  {
    label: 'Actions',
    hideLabel: true,
    align: 'end',
    cell: (entry) =>
      entry.canUndo
        ? undoForm(entry, { back, accessibleName: `Undo: ${entry.sentence}` })
        : entry.undoneBy !== null && html`<span class="muted small">undone</span>`,
  },
]

const rawValues = (entry: AuditEntry): Html => html`
  <details class="more">
    <summary>Details</summary>
    <p class="small">
      <code class="nowrap">${entry.action}</code> ${subject(entry.target)}
      ${entry.ip !== null && html`<span class="muted">from ${entry.ip}</span>`}
    </p>
    ${changes(entry)}
  </details>
`

function subject({ kind, id, name }: AuditEntry['target']): Html {
  const what = kind.replace(/[-_]/g, ' ')
  return html`<span class="muted">${what}</span> ${name ?? id}`
}

/** Before → after. */
function changes({ before, after }: AuditEntry): Html {
  const [was, is] = [asRecord(before), asRecord(after)]
  const names = [...new Set([...Object.keys(was), ...Object.keys(is)])].filter(
    (name) => shown(was[name]) !== shown(is[name]) && !isNamed(name, is) && !isNamed(name, was),
  )
  if (names.length === 0) return NOTHING
  return html`
    <ul class="changes">
      ${names.map(
        (name) => html`
          <li><span class="muted">${name}</span> ${before === null || html`${value(was, name, 'del')} → `}${value(is, name, 'ins')}</li>
        `,
      )}
    </ul>
  `
}

const NOTHING = html``

/** Ids that the entry or its project already says by name; the API has them. */
const isNamed = (name: string, values: Record<string, unknown>): boolean =>
  name === 'id' || name === 'projectId' || (NAMES[name] ?? '') in values

const NAMES: Readonly<Record<string, string | undefined>> = {
  deploymentId: 'commitSha',
  ownerId: 'owner',
  schemaId: 'schema',
  userId: 'email',
}

const value = (record: Record<string, unknown>, name: string, tag: 'ins' | 'del'): Html =>
  name in record
    ? tag === 'ins'
      ? html`<ins>${shown(record[name])}</ins>`
      : html`<del>${shown(record[name])}</del>`
    : html`<span class="muted">none</span>`

const asRecord = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? { ...value } : {}

function shown(value: unknown): string {
  if (typeof value === 'string') return value
  return value === undefined ? '' : JSON.stringify(value)
}
