import type { Paginated } from '../../src/domain/pagination.ts'
import type { AuditEntry } from '../../src/modules/logs/service.ts'
import { emptyState } from '../components/empty-state.ts'
import { field, selectField } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { notice } from '../components/notice.ts'
import { pagination } from '../components/pagination.ts'
import { searchForm } from '../components/search-form.ts'
import { type Column, table } from '../components/table.ts'
import { time } from '../components/time.ts'
import { makerName } from '../deployments/deployment-table.ts'
import { queryText } from '../frame/project-request.ts'
import { type WorkspacePageBase, workspaceFrame } from './frame.ts'

/** Empty text does not filter. `from` and `to` are days. */
type AuditFilters = { action: string; projectId: string; actorId: string; from: string; to: string }

type AuditPageProps = WorkspacePageBase & {
  /** Null when the filters are invalid; `problem` says why. */
  found: Paginated<AuditEntry> | null
  problem?: string | undefined
  filters: AuditFilters
  projects: readonly { id: string; owner: string; name: string }[]
}

/** Who changed what, and the values before. */
export function auditPage(props: AuditPageProps): Html {
  const { found, filters } = props
  return workspaceFrame(
    props,
    {
      place: 'audit',
      title: 'Audit log',
      about: 'Every change: who made it, from where, and the values before.',
    },
    html`
      ${searchForm('Audit log', filterFields(props), isFiltered(filters) ? '/admin/audit' : undefined, 'Filter')}
      ${props.problem !== undefined && notice({ tone: 'bad', message: props.problem, live: true })}
      ${found !== null && entries(found, props)}
    `,
  )
}

const isFiltered = (filters: AuditFilters): boolean => Object.values(filters).some((text) => text !== '')

const entries = (found: Paginated<AuditEntry>, { filters, projects }: AuditPageProps): Html => html`
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
          columns: columns(namesOf(found.data, projects)),
        })
  }
  ${pagination({ ...found.pagination, hrefOf: (page) => `/admin/audit${queryText({ ...filters, page })}` })}
`

/** The names of the projects that the entries are about, by id. */
function namesOf(entries: readonly AuditEntry[], projects: AuditPageProps['projects']): Map<string, string> {
  const ids = new Set(entries.map(({ projectId }) => projectId))
  const shown = projects.filter(({ id }) => ids.has(id))
  return new Map(shown.map(({ id, owner, name }) => [id, `${owner}/${name}`]))
}

/** Suggestions: the log may hold others of an older version. */
const ACTIONS = [
  'alias.change',
  'alias.create',
  'alias.delete',
  'alias.move',
  'api-key.create',
  'api-key.revoke',
  'asset.delete',
  'backup.create',
  'certificate.fail',
  'certificate.issue',
  'certificate.renew',
  'deployment.add_files',
  'deployment.create',
  'deployment.delete',
  'deployment.publish_again',
  'device.approve',
  'device.deny',
  'domain.certificate',
  'domain.change',
  'domain.create',
  'domain.delete',
  'domain.verify',
  'group.add-member',
  'group.change',
  'group.create',
  'group.delete',
  'group.remove-member',
  'invitation.accept',
  'invitation.create',
  'invitation.revoke',
  'member.remove',
  'membership.leave',
  'permission.grant',
  'permission.revoke',
  'preview.end',
  'project.change',
  'project.create',
  'project.delete',
  'project.transfer',
  'proxy_rule.change',
  'proxy_rule.create',
  'proxy_rule.delete',
  'proxy_rule.reorder',
  'record.change',
  'record.create',
  'record.delete',
  'rule_set.attach',
  'rule_set.change',
  'rule_set.create',
  'rule_set.delete',
  'rule_set.detach',
  'rule_set.place',
  'rule_set.rollback',
  'rule_set.sync',
  'schema.change',
  'schema.create',
  'schema.delete',
  'secret.delete',
  'secret.put',
  'session.end',
  'session.open',
  'settings.change',
  'traffic.delete',
  'traffic.set',
  'user.change',
  'user.connect',
  'user.create',
  'user.delete',
  'user.disconnect',
  'user.forgot-password',
  'user.mfa-off',
  'user.mfa-on',
  'user.reset-link',
  'user.set-password',
]

const filterFields = ({ filters, projects }: AuditPageProps): Html => html`
  ${field({
    name: 'action',
    label: 'Action',
    value: filters.action,
    placeholder: 'project.change',
    required: false,
    isPlain: true,
    verbatim: true,
    list: 'actions',
  })}
  <datalist id="actions">${ACTIONS.map((action) => html`<option value=${action}></option>`)}</datalist>
  ${selectField({
    name: 'projectId',
    label: 'Project',
    value: filters.projectId,
    options: [
      { value: '', label: 'Anything' },
      ...projects.map(({ id, owner, name }) => ({ value: id, label: `${owner}/${name}` })),
    ],
  })}
  ${field({ name: 'from', label: 'From', type: 'date', value: filters.from, required: false, isPlain: true })}
  ${field({ name: 'to', label: 'To', type: 'date', value: filters.to, required: false, isPlain: true })}
  ${filters.actorId !== '' && html`<input type="hidden" name="actorId" value=${filters.actorId} />`}
`

const columns = (names: ReadonlyMap<string, string>): Column<AuditEntry>[] => [
  {
    label: 'Change',
    cell: (entry) => html`
      <code class="nowrap">${entry.action}</code>
      <div class="muted small roomy">${entry.projectId === null ? '' : names.get(entry.projectId)}</div>
    `,
  },
  {
    label: 'By',
    cell: ({ actor, ip }) => html`<div class="roomy">
      ${
        actor.id === null
          ? makerName(actor)
          : html`<a href=${`/admin/audit?actorId=${encodeURIComponent(actor.id)}`}>${makerName(actor)}</a>`
      }
      <div class="muted small">${ip}</div>
    </div>`,
  },
  { label: 'What', cell: subjectAndChanges },
  { label: 'When', align: 'end', cell: ({ at }) => time(at) },
]

/** What was changed, as people call it, and the values that differ. */
const subjectAndChanges = (entry: AuditEntry): Html =>
  html`<div class="roomy">${subject(entry.target)}</div>${changes(entry)}`

function subject({ kind, id, name }: AuditEntry['target']): Html {
  const what = kind.replace(/[-_]/g, ' ')
  if (name === null) return html`<span class="muted small">${what} ${id}</span>`
  return html`<span class="muted">${what}</span> ${kind === 'deployment' ? name.slice(0, 12) : name}`
}

/** Before → after. Long lists are folded. */
function changes({ before, after }: AuditEntry): Html {
  const [was, is] = [asRecord(before), asRecord(after)]
  const names = [...new Set([...Object.keys(was), ...Object.keys(is)])].filter(
    (name) => shown(was[name]) !== shown(is[name]) && !isNamed(name, is) && !isNamed(name, was),
  )
  if (names.length === 0) return NOTHING
  const list = html`
    <ul class="changes">
      ${names.map(
        (name) => html`
          <li><span class="muted">${name}</span> ${before === null || html`${value(was, name, 'del')} → `}${value(is, name, 'ins')}</li>
        `,
      )}
    </ul>
  `
  if (names.length <= MAX_OPEN) return list
  return html`<details class="more"><summary>${names.length} values</summary>${list}</details>`
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

const MAX_OPEN = 3

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
