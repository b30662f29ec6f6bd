import type { SchemaField } from '../../src/domain/schema-fields.ts'
import type { SchemaUse } from '../../src/modules/proxy-rules/uses.ts'
import type { SchemaUsage } from '../../src/modules/records/usage.ts'
import type { SchemaView } from '../../src/modules/schemas/service.ts'
import { badge } from '../components/badge.ts'
import { linkButton } from '../components/button.ts'
import { formatCount } from '../components/chart.ts'
import { copyable } from '../components/copyable.ts'
import { emptyState } from '../components/empty-state.ts'
import { type Html, html } from '../components/html.ts'
import { formatSize } from '../components/size.ts'
import { type Column, table } from '../components/table.ts'
import { type ProjectPageBase, projectFrame, projectHref } from '../frame/project-frame.ts'
import { ruleHref, ruleName } from '../rules/rule-words.ts'

type SchemaRow = SchemaView & { usage: SchemaUsage; uses: readonly SchemaUse[] }

type DataPageProps = ProjectPageBase & { schemas: readonly SchemaRow[]; apiUrl: string }

export const dataHref = (projectId: string, rest = ''): string => projectHref(projectId, `/data${rest}`)

export const schemaHref = (projectId: string, schemaId: string, rest = ''): string =>
  dataHref(projectId, `/${schemaId}${rest}`)

/** The schemas of the project, which hold the data of its pipelines. */
export const dataPage = (props: DataPageProps): Html =>
  projectFrame(
    props,
    {
      tab: 'data',
      title: 'Data',
      about: html`<p class="muted">Data stored by pipelines. Each schema defines the fields of its records.</p>`,
      aside: props.can.configureTraffic && props.schemas.length > 0 && newSchema(props),
    },
    props.schemas.length === 0
      ? nothing(props)
      : table<SchemaRow>({ caption: 'Schemas', rows: props.schemas, columns: columns(props.project.id) }),
  )

const newSchema = ({ project }: ProjectPageBase): Html =>
  linkButton({ label: 'New schema', href: dataHref(project.id, '/new') })

const nothing = (props: DataPageProps): Html =>
  emptyState(
    {
      icon: 'storage',
      title: 'No schemas yet',
      text: 'A schema defines the fields of records, such as the messages of a contact form. Records that a pipeline stores appear here.',
    },
    props.can.configureTraffic &&
      html`
        ${newSchema(props)}
        <div class="stack">
          <h3>Keep the schema in the repository</h3>
          <p class="muted">
            Write the schema as a file of a rule set, in the site’s repository. A push adds what is missing here and never
            deletes anything.
          </p>
          ${copyable({ label: 'schemas/messages.schema.yaml', text: EXAMPLE })}
          ${copyable({ label: 'Push it to this server', text: commands(props) })}
        </div>
      `,
  )

const EXAMPLE = [
  'name: messages',
  'fields:',
  '  - { name: email, type: email, required: true }',
  '  - { name: text, type: text, required: true }',
].join('\n')

const commands = ({ project, apiUrl }: DataPageProps): string =>
  [
    'export SVC_API_KEY=svc_…',
    'svc rules init book',
    `svc rules push .svc/proxy-rules/book --api-url ${apiUrl} \\`,
    `  --project ${project.owner}/${project.name}`,
  ].join('\n')

const columns = (projectId: string): Column<SchemaRow>[] => [
  {
    label: 'Schema',
    cell: ({ id, name }) => html`<a href=${schemaHref(projectId, id)}><strong>${name}</strong></a>`,
  },
  { label: 'Fields', cell: ({ fields }) => fieldNames(fields) },
  { label: 'Used by', cell: ({ uses }) => useList(projectId, uses) },
  { label: 'Records', align: 'end', cell: ({ usage }) => formatCount(usage.records) },
  { label: 'Size', align: 'end', cell: ({ usage }) => sizeText(usage) },
]

export const sizeText = ({ sizeBytes, isSizeExact }: SchemaUsage): string =>
  `${isSizeExact ? '' : 'about '}${formatSize(sizeBytes)}`

const MAX_NAMES = 4

function fieldNames(fields: readonly SchemaField[]): Html {
  if (fields.length === 0) return html`<span class="muted">None</span>`
  const shown = fields.slice(0, MAX_NAMES)
  const rest = fields.length - shown.length
  return html`
    <ul>
      ${shown.map(({ name, type }) => html`<li>${name} <span class="muted small">${type}</span></li>`)}
      ${rest > 0 && html`<li class="muted small">and ${rest} more</li>`}
    </ul>
  `
}

/** The pipelines that read or write a schema, each with a link to its rule. */
export function useList(projectId: string, uses: readonly SchemaUse[]): Html {
  if (uses.length === 0) return html`<span class="muted">No pipeline</span>`
  return html`
    <ul>
      ${uses.map(
        (use) => html`
          <li>
            <a href=${ruleHref(projectId, use.ruleId)}><code>${ruleName(use)}</code></a>
            ${!use.isEnabled && badge('Disabled', 'warn')}
            <div class="muted small">${[...use.handlers, placeOf(use)].filter(Boolean).join(', ')}</div>
          </li>
        `,
      )}
    </ul>
  `
}

function placeOf({ ruleSet, alias }: SchemaUse): string | null {
  if (ruleSet !== null) return `in ${ruleSet}`
  return alias === null ? null : `on ${alias}`
}
