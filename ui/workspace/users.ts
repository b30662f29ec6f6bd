import type { Paginated } from '../../src/domain/pagination.ts'
import type { InvitationMail } from '../../src/modules/notices/outbox.ts'
import type { Twins, UserView } from '../../src/modules/users/service.ts'
import { badge } from '../components/badge.ts'
import { button, linkButton } from '../components/button.ts'
import { card } from '../components/card.ts'
import { copyable } from '../components/copyable.ts'
import { field, fieldError, formError, hidden, selectField } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { invitationMail } from '../components/invitation-mail.ts'
import { pagination } from '../components/pagination.ts'
import { roleLabel } from '../components/role.ts'
import { searchForm } from '../components/search-form.ts'
import { type Column, table } from '../components/table.ts'
import { day, time } from '../components/time.ts'
import { type Failed, queryText } from '../frame/project-request.ts'
import { type WorkspacePageBase, workspaceFrame } from './frame.ts'

export type UsersPageProps = WorkspacePageBase & {
  found: Paginated<UserView>
  search: string
  /** Accounts that share an email. */
  twins: readonly Twins[]
  /** Just created. Only this response contains the link. */
  created?: { email: string; inviteUrl: string; mail: InvitationMail } | undefined
  failed?: Failed | undefined
}

/** The accounts of the workspace. Sends `create` with `email` and `role`. */
export const usersPage = (props: UsersPageProps): Html =>
  workspaceFrame(
    props,
    {
      place: 'users',
      title: 'Users',
      aside: linkButton({ label: 'New user', href: '#new-user' }),
      about: 'One account works on every site. Each project decides what it may do there.',
    },
    html`
      ${props.created && createdCard(props.created)} ${twinsCard(props.twins)}
      ${searchForm(
        'Users',
        field({
          name: 'q',
          id: 'q',
          label: 'Find a user',
          type: 'search',
          value: props.search,
          required: false,
          isPlain: true,
        }),
        props.search === '' ? undefined : '/admin/users',
      )}
      ${
        props.found.data.length === 0
          ? html`<p class="muted">${props.search === '' ? 'This page of the list is empty.' : `No account has “${props.search}” in its email.`}</p>`
          : table<UserView>({ caption: 'Users', rows: props.found.data, columns: COLUMNS })
      }
      ${pagination({
        ...props.found.pagination,
        hrefOf: (page) => `/admin/users${queryText({ q: props.search, page })}`,
      })}
      ${newUser(props.failed)}
    `,
  )

const COLUMNS: Column<UserView>[] = [
  { label: 'Email', cell: (user) => html`<a href=${`/admin/users/${user.id}`}>${user.email}</a>` },
  {
    label: 'Role',
    cell: ({ role, suspendedAt }) =>
      html`${roleLabel(role)} ${suspendedAt !== null && badge('Suspended', 'warn')}`,
  },
  { label: 'Last seen', align: 'end', cell: (user) => time(user.lastSeenAt) },
  { label: 'Since', align: 'end', cell: (user) => day(user.createdAt) },
]

const createdCard = ({ email, inviteUrl, mail }: NonNullable<UsersPageProps['created']>): Html =>
  card(
    { id: 'created', title: `The account ${email} was created` },
    html`
      <div class="stack">
        ${invitationMail(mail)}
        ${copyable({ label: 'Link to set the password, valid for 7 days', text: inviteUrl })}
      </div>
    `,
  )

/** They look the same in most fonts, so each has its age. contract 12.7. */
const twinsCard = (twins: readonly Twins[]): Html | false =>
  twins.length > 0 &&
  card(
    {
      id: 'twins',
      title: 'One email, several accounts',
      about:
        'These emails are the same by now, only spelled in different ways. Each account is signed in to by its own spelling; any other spelling means the first. Delete those that nobody needs, or change their emails.',
    },
    html`<ul>${twins.map((accounts) => html`<li>one email, ${accounts.length} accounts: ${accounts.map(twinLink)}</li>`)}</ul>`,
  )

const twinLink = ({ id, email, createdAt }: Twins[number], at: number): Html =>
  html`${at > 0 && ', '}<a href=${`/admin/users/${id}`}>${email}</a> (since ${day(createdAt)})`

/** The global roles, to choose from. */
export const ROLES = [
  { value: 'member', label: 'Member: only what projects allow' },
  { value: 'user', label: 'User: can also create projects' },
  { value: 'admin', label: 'Admin: everything' },
]

const newUser = (failed: Failed | undefined): Html =>
  card(
    {
      id: 'new-user',
      title: 'New user',
      about: 'You get a link to send to them, which lets them choose a password.',
    },
    html`
      <form method="post" action="#created" class="stack narrow">
        ${formError(failed?.error)} ${hidden('intent', 'create')}
        ${field({
          name: 'email',
          label: 'Email',
          type: 'email',
          value: failed?.values['email'],
          error: fieldError(failed?.error, 'email'),
        })}
        ${selectField({ name: 'role', label: 'Role', value: failed?.values['role'] ?? 'member', options: ROLES })}
        <div>${button({ label: 'Create user' })}</div>
      </form>
    `,
  )
