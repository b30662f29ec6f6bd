import type { SecretView } from '../../../src/modules/secrets/service.ts'
import { button } from '../../components/button.ts'
import { card } from '../../components/card.ts'
import { confirmDialog } from '../../components/confirm.ts'
import { emptyState } from '../../components/empty-state.ts'
import { field, fieldError, formError, hidden, textArea } from '../../components/field.ts'
import { notice } from '../../components/notice.ts'
import { type Column, table } from '../../components/table.ts'
import { time } from '../../components/time.ts'
import { type Html, html } from '../../html.ts'
import type { Failed } from '../../project-request.ts'
import { type ProjectPageBase, projectFrame } from './project-frame.ts'

type SecretsPageProps = ProjectPageBase & {
  secrets: readonly SecretView[]
  failed?: Failed | undefined
}

/** Values can be stored but never read. Sends `put` with `name` and `value`, or `delete` with `name`. */
export const secretsPage = (props: SecretsPageProps): Html =>
  projectFrame(
    props,
    {
      tab: 'secrets',
      title: 'Secrets',
      about: html`<p class="muted">For pipelines, as <code>secrets.NAME</code>. Values are encrypted and never shown again.</p>`,
    },
    html`
      ${
        props.failed?.intent === 'delete' &&
        notice({ tone: 'bad', message: props.failed.error.message, live: true })
      }
      ${
        props.secrets.length === 0
          ? emptyState({
              icon: 'key',
              title: 'No secrets yet',
              text: 'Store the key of another service here, and pipelines can use it without anybody being able to read it.',
            })
          : table<SecretView>({
              caption: 'Secrets',
              rows: props.secrets,
              columns: columns(props.can.manageSecrets),
            })
      }
      ${props.can.manageSecrets && putForm(props.failed?.intent === 'put' ? props.failed : undefined)}
    `,
  )

const putForm = (failed: Failed | undefined): Html =>
  card(
    { id: 'put', title: 'Store a secret', about: 'Storing a value under an existing name replaces it.' },
    html`
      <form method="post" class="stack narrow">
        ${formError(failed?.error)} ${hidden('intent', 'put')}
        ${field({
          name: 'name',
          label: 'Name',
          hint: 'Letters, digits and underscores, with no digit first.',
          pattern: '[A-Za-z_][A-Za-z0-9_]*',
          maxlength: 100,
          placeholder: 'MAIL_API_KEY',
          value: failed?.values['name'],
          error: fieldError(failed?.error, 'name'),
          verbatim: true,
        })}
        ${textArea({
          name: 'value',
          label: 'Value',
          hint: failed && 'Enter it again: the page never shows a value.',
          error: fieldError(failed?.error, 'value'),
        })}
        <div>${button({ label: 'Store' })}</div>
      </form>
    `,
  )

const columns = (canManage: boolean): Column<SecretView>[] => [
  { label: 'Name', cell: ({ name }) => html`<code>${name}</code>` },
  { label: 'Stored', cell: ({ updatedAt }) => time(updatedAt) },
  {
    label: 'Actions',
    hideLabel: true,
    align: 'end',
    cell: ({ name }) =>
      canManage &&
      confirmDialog(
        {
          id: `delete-${name}`,
          opener: 'Delete',
          accessibleName: `Delete ${name}`,
          title: `Delete ${name}?`,
          text: 'Pipelines that use it will fail.',
          confirm: 'Delete the secret',
        },
        html`${hidden('intent', 'delete')}${hidden('name', name)}`,
      ),
  },
]
