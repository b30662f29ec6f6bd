import { type Check, MAX_CHECKS, type ReleaseChecks } from '../../src/domain/release-checks.ts'
import { button } from '../components/button.ts'
import { card } from '../components/card.ts'
import { confirmDialog } from '../components/confirm.ts'
import { checkbox, field, fieldError, formError, hidden } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { type Column, table } from '../components/table.ts'
import { type ProjectPageBase, projectFrame } from '../frame/project-frame.ts'
import type { Failed } from '../frame/project-request.ts'

type ReleaseChecksPageProps = ProjectPageBase & { checks: ReleaseChecks; failed?: Failed | undefined }

/** What is checked before an upload moves an alias. Sends `save`, `add`, `remove` or `off`. */
export const releaseChecksPage = (props: ReleaseChecksPageProps): Html =>
  projectFrame(
    props,
    {
      tab: 'checks',
      title: 'Release checks',
      about: html`<p class="muted">Before an upload moves an alias, its pages are looked at. If one fails, the alias stays.</p>`,
    },
    html`
      ${props.can.manageSettings ? whatCard(props) : card({ id: 'what', title: 'What is checked' }, summary(props))}
      ${pagesCard(props)} ${props.can.manageSettings && addCard(props)} ${fileCard}
      ${props.can.manageSettings && isOn(props.checks) && offCard}
    `,
  )

const isOn = ({ startPage, checks }: ReleaseChecks): boolean => startPage || checks.length > 0

function whatCard({ checks, failed }: ReleaseChecksPageProps): Html {
  const rejected = failed?.intent === 'save' ? failed : undefined
  return card(
    { id: 'what', title: 'What is checked' },
    html`
      <form method="post" class="stack narrow">
        ${formError(rejected?.error)} ${hidden('intent', 'save')}
        ${checkbox({
          name: 'startPage',
          label: 'The start page must stay',
          checked: rejected === undefined ? checks.startPage : rejected.values['startPage'] === 'true',
          hint: 'If / was shown before, it must be after it.',
        })}
        ${field({
          name: 'aliases',
          label: 'Only for these aliases',
          hint: 'Names with commas between them. Empty: for all, previews too.',
          value: rejected?.values['aliases'] ?? checks.aliases?.join(', ') ?? '',
          required: false,
          isPlain: true,
          error: fieldError(rejected?.error, 'aliases'),
          verbatim: true,
        })}
        <div>${button({ label: 'Save', accessibleName: 'Save what is checked' })}</div>
      </form>
    `,
  )
}

const summary = ({ checks }: ReleaseChecksPageProps): Html =>
  isOn(checks)
    ? html`<p>
        ${checks.startPage ? 'The start page must stay. ' : ''}For ${checks.aliases === null ? 'all aliases' : checks.aliases.join(', ')}.
      </p>`
    : html`<p class="muted">Nothing, but what a published checks file says.</p>`

function pagesCard({ checks: { checks }, can }: ReleaseChecksPageProps): Html {
  const columns: Column<Check>[] = [
    { label: 'Check', cell: ({ name, path }) => name ?? path },
    { label: 'Path', cell: ({ path }) => html`<code>${path}</code>` },
    { label: 'Must be', cell: wanted },
  ]
  const removal: Column<Check> = {
    label: 'Remove',
    align: 'end',
    hideLabel: true,
    cell: (check) => html`
      <form method="post">
        ${hidden('intent', 'remove')} ${hidden('check', JSON.stringify(check))}
        ${button({ label: 'Remove', kind: 'quiet', small: true, accessibleName: `Remove ${check.name ?? check.path}` })}
      </form>
    `,
  }
  return card(
    { id: 'pages', title: 'Pages' },
    checks.length === 0
      ? html`<p class="muted">None yet. A page that every release must have is a good first one, such as the imprint.</p>`
      : table({
          caption: 'Pages that are checked',
          columns: can.manageSettings ? [...columns, removal] : columns,
          rows: checks,
        }),
  )
}

const wanted = ({ status, contains, maxBytes }: Check): string =>
  [
    String(status),
    ...(contains === null ? [] : [`with “${contains}”`]),
    ...(maxBytes === null ? [] : [`of at most ${maxBytes} bytes`]),
  ].join(', ')

function addCard({ checks, failed }: ReleaseChecksPageProps): Html {
  const rejected = failed?.intent === 'add' ? failed : undefined
  const at = `checks[${checks.checks.length}]`
  const input = (name: string, label: string, hint: string, isRequired = false) =>
    field({
      name,
      label,
      hint,
      value: rejected?.values[name] ?? '',
      required: isRequired,
      isPlain: true,
      error: fieldError(rejected?.error, `${at}.${name}`),
      verbatim: true,
    })
  return card(
    { id: 'add', title: 'Add a page', about: `At most ${MAX_CHECKS}.` },
    html`
      <form method="post" class="stack narrow">
        ${formError(rejected?.error)} ${hidden('intent', 'add')}
        ${input('path', 'Path', 'Such as /imprint, with its query if it has one.', true)}
        ${input('name', 'Name', 'What the answer of an upload calls it.')}
        ${input('status', 'Status', 'Empty: 200.')}
        ${input('contains', 'Text in it', 'The page must contain it.')}
        ${input('maxBytes', 'Most bytes', 'The page may not be larger, unencoded.')}
        <div>${button({ label: 'Add', accessibleName: 'Add the page' })}</div>
      </form>
    `,
  )
}

const fileCard = card(
  { id: 'file', title: 'In the repository' },
  html`<p>
    A <code>.svc/checks.yaml</code> with the keys <code>aliases</code>, <code>startPage</code> and${' '}
    <code>checks</code> goes with each publish. It adds to what is set here and takes nothing away.
  </p>`,
)

const offCard = card(
  { id: 'off', title: 'Check nothing any more' },
  confirmDialog(
    {
      id: 'checks-off',
      opener: 'Remove the checks',
      openerKind: 'danger',
      title: 'Remove all release checks of this project?',
      text: 'The next upload moves its alias unseen, unless a published checks file says otherwise.',
      confirm: 'Remove them',
    },
    hidden('intent', 'off'),
  ),
)
