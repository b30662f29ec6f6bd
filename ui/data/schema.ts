import type { SchemaUse } from '../../src/modules/proxy-rules/uses.ts'
import type { SchemaUsage } from '../../src/modules/records/usage.ts'
import type { SchemaView } from '../../src/modules/schemas/service.ts'
import { button } from '../components/button.ts'
import { card } from '../components/card.ts'
import { formatCount } from '../components/chart.ts'
import { details } from '../components/details.ts'
import { checkbox, field, fieldError, formError, hidden } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { notice } from '../components/notice.ts'
import { typedWord } from '../components/typed-word.ts'
import { type Column, table } from '../components/table.ts'
import { day, time } from '../components/time.ts'
import type { Failed } from '../frame/project-request.ts'
import type { FieldRow } from './schema-form.ts'
import { dataHref, schemaHref, sizeText, useList } from './data.ts'
import { type ProjectPageBase, projectFrame } from '../frame/project-frame.ts'
import { schemaButtons, schemaFields } from './schema-fields.ts'

type NewSchemaPageProps = ProjectPageBase & {
  rows: readonly FieldRow[]
  name: string
  failed?: Failed | undefined
}

/** Sends `save` or `more` as `intent`, with `name` and the fields. */
export const newSchemaPage = (props: NewSchemaPageProps): Html =>
  projectFrame(
    props,
    {
      tab: 'data',
      title: 'New schema',
      crumbs: [{ label: 'Data', href: dataHref(props.project.id) }],
    },
    card(
      { id: 'schema', title: 'Name and fields', about: 'Fields without a name are ignored.' },
      html`
        <form method="post" class="stack">
          ${formError(props.failed?.error)} ${nameField(props.name, props.failed, false)}
          ${schemaFields({ rows: props.rows, hasRecords: false, error: props.failed?.error })}
          ${schemaButtons('Create schema', dataHref(props.project.id))}
        </form>
      `,
    ),
  )

type SchemaPageProps = ProjectPageBase & {
  schema: SchemaView
  /** The values as typed, or as stored. */
  name: string
  usage: SchemaUsage
  uses: readonly SchemaUse[]
  rows: readonly FieldRow[]
  /** Names of the fields that are removed if the form is sent again with the box ticked. */
  removing: readonly string[]
  failed?: Failed | undefined
}

/** A schema. Sends `save` or `more` like the form for a new one, or `delete` with the typed name. */
export const schemaPage = (props: SchemaPageProps): Html =>
  projectFrame(
    props,
    {
      tab: 'data',
      title: `Schema of ${props.schema.name}`,
      crumbs: [
        { label: 'Data', href: dataHref(props.project.id) },
        { label: props.schema.name, href: schemaHref(props.project.id, props.schema.id) },
      ],
    },
    html`
      ${facts(props)} ${props.can.configureTraffic ? editing(props) : reading(props)}
      ${props.can.configureTraffic && removal(props)}
    `,
  )

const facts = ({ project, schema, usage, uses }: SchemaPageProps): Html =>
  card(
    { id: 'facts', title: 'About this schema' },
    details([
      ['Records', html`<a href=${schemaHref(project.id, schema.id)}>${formatCount(usage.records)}</a>`],
      ['Size', sizeText(usage)],
      ['Used by', useList(project.id, uses)],
      ['In pipelines', html`<code>$schema:${schema.name}</code>`],
      ['Created', day(schema.createdAt)],
      ['Changed', time(schema.updatedAt)],
    ]),
  )

function editing(props: SchemaPageProps): Html {
  const failed = props.failed?.intent === 'delete' ? undefined : props.failed
  const { records } = props.usage
  return card(
    {
      id: 'fields',
      title: 'Name and fields',
      about:
        records > 0
          ? 'A new field is added to every record with its default. The type of a field that is in use cannot change.'
          : 'Fields without a name are ignored.',
    },
    html`
      <form method="post" class="stack">
        ${props.removing.length > 0 ? askAboutRemoval : formError(failed?.error)}
        ${nameField(props.name, failed, props.uses.length > 0)}
        ${schemaFields({ rows: props.rows, hasRecords: records > 0, error: failed?.error })}
        ${
          props.removing.length > 0 &&
          checkbox({
            name: MEANT,
            label: `Yes, remove ${props.removing.join(', ')} from ${recordsWords(records)}`,
            hint: 'The values of these fields are lost.',
          })
        }
        ${schemaButtons('Save')}
      </form>
    `,
  )
}

/** The name of the box, and its id, to which the notice leads. */
const MEANT = 'isRemovalMeant'

const askAboutRemoval: Html = notice({
  tone: 'bad',
  message: html`Removing a field deletes its values in all records. <a href=${`#${MEANT}`}>Tick the box</a> to confirm.`,
  live: true,
})

const nameField = (name: string, failed: Failed | undefined, isUsed: boolean): Html => html`
  <div class="narrow">
    ${field({
      name: 'name',
      label: 'Name',
      value: name,
      hint: `Pipelines refer to it as $schema: and this name.${isUsed ? ' Rename it there too, or they stop working.' : ''}`,
      placeholder: 'messages',
      error: fieldError(failed?.error, 'name'),
      verbatim: true,
    })}
  </div>
`

const reading = ({ schema }: SchemaPageProps): Html =>
  card(
    { id: 'fields', title: 'Fields' },
    table({ caption: 'Fields', rows: schema.fields, columns: FIELD_COLUMNS }),
  )

type Field = SchemaView['fields'][number]

const FIELD_COLUMNS: Column<Field>[] = [
  { label: 'Field', cell: ({ name }) => html`<code>${name}</code>` },
  { label: 'Type', cell: ({ type }) => type },
  {
    label: 'Rules',
    cell: ({ required, unique }) => [required && 'required', unique && 'unique'].filter(Boolean).join(', '),
  },
  {
    label: 'Default',
    cell: ({ default: fallback }) =>
      fallback === undefined ? '' : html`<code>${JSON.stringify(fallback)}</code>`,
  },
]

function removal({ schema, usage, uses, failed }: SchemaPageProps): Html {
  const error = failed?.intent === 'delete' ? failed.error : undefined
  return card(
    {
      id: 'removal',
      title: 'Delete the schema',
      about: `This deletes ${recordsWords(usage.records)}. ${uses.length > 0 ? 'The pipelines that use it will fail. ' : ''}This cannot be undone.`,
    },
    html`
      <form method="post" class="stack narrow">
        ${formError(error)} ${hidden('intent', 'delete')}
        ${
          usage.records > 0 &&
          typedWord({
            id: 'delete-confirm',
            word: schema.name,
            typed: failed?.intent === 'delete' ? failed.values['confirm'] : undefined,
            error,
          })
        }
        <div>${button({ label: 'Delete the schema', kind: 'danger' })}</div>
      </form>
    `,
  )
}

const recordsWords = (count: number): string => (count === 1 ? '1 record' : `${formatCount(count)} records`)
