import type { SchemaField } from '../../src/domain/schema-fields.ts'
import type { RecordView } from '../../src/modules/records/service.ts'
import type { SchemaView } from '../../src/modules/schemas/service.ts'
import { button, linkButton } from '../components/button.ts'
import { card } from '../components/card.ts'
import { confirmDialog } from '../components/confirm.ts'
import { details } from '../components/details.ts'
import { formError, hidden } from '../components/field.ts'
import { type Content, type Html, html } from '../components/html.ts'
import { moment, time } from '../components/time.ts'
import type { Failed } from '../frame/project-request.ts'
import { tooLong, valueText } from './record-form.ts'
import { dataHref, schemaHref } from './data.ts'
import { type ProjectPageBase, projectFrame } from '../frame/project-frame.ts'
import { recordInput } from './record-input.ts'
import { recordName } from './record-value.ts'

type Base = ProjectPageBase & { schema: SchemaView; failed?: Failed | undefined }

/** Sends `intent=create` with the fields. */
export const newRecordPage = (props: Base): Html =>
  frame(
    props,
    'New record',
    card(
      { id: 'fields', title: 'Fields', about: 'Empty fields get their default, or no value.' },
      html`
        <form method="post" class="stack">
          ${formError(props.failed?.error)} ${hidden('intent', 'create')}
          ${props.schema.fields.map((one) => recordInput(one, one.default, props.failed))}
          <div class="actions">
            ${button({ label: 'Create record' })}
            ${linkButton({ label: 'Cancel', href: schemaHref(props.project.id, props.schema.id), kind: 'secondary' })}
          </div>
        </form>
      `,
    ),
  )

type RecordPageProps = Base & { record: RecordView }

/** One complete record. Sends `intent=save` with the fields and the `updatedAt` that was shown, or `intent=delete`. */
export const recordPage = (props: RecordPageProps): Html =>
  frame(
    props,
    recordName(props.schema.fields, props.record),
    html`
      ${props.can.configureTraffic ? editing(props) : reading(props)} ${facts(props)}
      ${props.can.configureTraffic && removal(props)}
    `,
  )

const frame = (props: Base, title: string, body: Content): Html =>
  projectFrame(
    props,
    {
      tab: 'data',
      title,
      crumbs: [
        { label: 'Data', href: dataHref(props.project.id) },
        { label: props.schema.name, href: schemaHref(props.project.id, props.schema.id) },
      ],
    },
    body,
  )

const facts = ({ record }: RecordPageProps): Html =>
  card(
    { id: 'facts', title: 'About the record' },
    details([
      ['Id', html`<code>${record.id}</code>`],
      ['Created', time(record.createdAt)],
      ['Changed', time(record.updatedAt)],
    ]),
  )

function editing({ schema, record, failed }: RecordPageProps): Html {
  const long = tooLong(schema.fields, record)
  return card(
    { id: 'fields', title: 'Fields' },
    html`
      <form method="post" class="stack">
        ${formError(failed?.error)} ${hidden('intent', 'save')} ${hidden('updatedAt', record.updatedAt)}
        ${schema.fields.map((one) =>
          long.has(one.name) ? longValue(one, record) : recordInput(one, record[one.name], failed),
        )}
        <div>${button({ label: 'Save' })}</div>
      </form>
    `,
  )
}

const longValue = (field: SchemaField, record: RecordView): Html => html`
  <div class="stack">
    <p><strong>${field.name}</strong> <span class="muted small">is too long to edit here</span></p>
    ${whole(field, record[field.name])}
  </div>
`

const reading = ({ schema, record }: RecordPageProps): Html =>
  card(
    { id: 'fields', title: 'Fields' },
    details(schema.fields.map((one) => [one.name, whole(one, record[one.name])] as const)),
  )

/** The complete value. A long one scrolls in its own box. */
function whole(field: SchemaField, value: unknown): Content {
  if (value === null || value === undefined || value === '') return html`<span class="muted">Empty</span>`
  if (field.type === 'datetime' && typeof value === 'string') return moment(value)
  const text = valueText(field, value)
  if (field.type !== 'json' && !text.includes('\n') && text.length < 500) return text
  return html`<pre class="preview" tabindex="0" role="group" aria-label=${field.name}>${text}</pre>`
}

const removal = ({ schema, record }: RecordPageProps): Html =>
  card(
    { id: 'removal', title: 'Delete' },
    confirmDialog(
      {
        id: 'delete-record',
        opener: 'Delete this record',
        openerKind: 'danger',
        title: `Delete ${recordName(schema.fields, record)}?`,
        text: 'Its values are lost. This cannot be undone.',
        confirm: 'Delete the record',
      },
      hidden('intent', 'delete'),
    ),
  )
