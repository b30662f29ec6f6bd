import type { DisabledRule, SecretView, UsableBy } from '../../src/modules/secrets/service.ts'
import { button } from '../components/button.ts'
import { card } from '../components/card.ts'
import { confirmDialog } from '../components/confirm.ts'
import { emptyState } from '../components/empty-state.ts'
import { field, fieldError, formError, hidden, selectField, textArea } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { notice } from '../components/notice.ts'
import { type Column, table } from '../components/table.ts'
import { time } from '../components/time.ts'
import { type ProjectPageBase, projectFrame } from '../frame/project-frame.ts'
import type { Failed } from '../frame/project-request.ts'
import { ruleHref } from '../rules/rule-words.ts'

type SecretsPageProps = ProjectPageBase & {
  secrets: readonly SecretView[]
  /** The rules that were just switched off, because they may not use a secret any more. */
  disabled?: readonly DisabledRule[] | undefined
  failed?: Failed | undefined
}

/**
 * Values can be stored but never read. Sends `put` with `name`, `value` and `usableBy` (empty: as it is), or `delete` with
 * `name`.
 */
export const secretsPage = (props: SecretsPageProps): Html =>
  projectFrame(
    props,
    {
      tab: 'secrets',
      title: 'Secrets',
      about: html`
        <p class="muted">For pipelines, as <code>secrets.NAME</code>. Values are encrypted and never shown again.</p>
        <p class="muted">
          Whoever may change this project’s rules can read a secret that contributors may use: a rule can send it anywhere.
          One for admins can be used only by rules that admins of the project write or switch on.
        </p>
      `,
    },
    html`
      ${
        props.failed?.intent === 'delete' &&
        notice({ tone: 'bad', message: props.failed.error.message, live: true })
      }
      ${props.disabled && switchedOff(props.project.id, props.disabled)}
      ${
        props.secrets.length === 0
          ? emptyState({
              icon: 'key',
              title: 'No secrets yet',
              text: 'Store the key of another service here, and pipelines can use it without its being part of their rules.',
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

const switchedOff = (projectId: string, rules: readonly DisabledRule[]): Html =>
  notice({
    tone: 'warn',
    live: true,
    message: html`
      <p>The secret was stored. These rules use it and were last written by somebody below admin, so they are off now:</p>
      <ul>
        ${rules.map(
          ({ id, method, pathPattern }) =>
            html`<li><a href=${ruleHref(projectId, id)}>${method ?? 'ANY'} ${pathPattern}</a></li>`,
        )}
      </ul>
      <p>Look at each of them before you switch it on again.</p>
    `,
  })

const putForm = (failed: Failed | undefined): Html =>
  card(
    {
      id: 'put',
      title: 'Store a secret',
      about: 'Storing a value under an existing name replaces it.',
    },
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
        ${selectField({
          name: 'usableBy',
          label: 'Usable by',
          hint: 'Keeping it for admins switches off the rules that use it and were last written by somebody else.',
          value: failed?.values['usableBy'],
          options: [
            { value: '', label: 'As it is; a new one by contributors' },
            {
              value: 'contributor',
              label: `${USABLE_BY.contributor}: whoever may change this project’s rules can read it`,
            },
            { value: 'admin', label: `${USABLE_BY.admin}: only in rules that admins write` },
          ],
        })}
        <div>${button({ label: 'Store' })}</div>
      </form>
    `,
  )

const USABLE_BY = { contributor: 'Contributors', admin: 'Admins' } as const satisfies Record<UsableBy, string>

const columns = (canManage: boolean): Column<SecretView>[] => [
  { label: 'Name', cell: ({ name }) => html`<code>${name}</code>` },
  { label: 'Usable by', cell: ({ usableBy }) => USABLE_BY[usableBy] },
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
