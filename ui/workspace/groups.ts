import type { Paginated } from '../../src/domain/pagination.ts'
import type { GroupMemberView, GroupView } from '../../src/modules/groups/service.ts'
import { button, linkButton } from '../components/button.ts'
import { card } from '../components/card.ts'
import { confirmDialog } from '../components/confirm.ts'
import { emptyState } from '../components/empty-state.ts'
import { type FormError, field, fieldError, formError, hidden, lineError } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { notice } from '../components/notice.ts'
import { pagination } from '../components/pagination.ts'
import { type Column, table } from '../components/table.ts'
import { day } from '../components/time.ts'
import type { Failed } from '../frame/project-request.ts'
import { type WorkspacePageBase, workspaceFrame } from './frame.ts'

type GroupsPageProps = WorkspacePageBase & { found: Paginated<GroupView>; failed?: Failed | undefined }

/** The groups of the workspace. Sends `create` with `name` and `description`. */
export const groupsPage = (props: GroupsPageProps): Html =>
  workspaceFrame(
    props,
    {
      place: 'groups',
      title: 'Groups',
      aside: props.found.pagination.total > 0 && linkButton({ label: 'New group', href: '#new-group' }),
      about: 'A group gives all its people the same role on a project.',
    },
    html`
      ${
        props.found.pagination.total === 0
          ? emptyState({
              icon: 'group',
              title: 'No groups yet',
              text: 'Create a group, add people, then give it a role on the People page of a project.',
            })
          : table<GroupView>({ caption: 'Groups', rows: props.found.data, columns: COLUMNS })
      }
      ${pagination({ ...props.found.pagination, hrefOf: (page) => `/admin/groups?page=${page}` })}
      ${card(
        { id: 'new-group', title: 'New group' },
        html`
          <form method="post" class="stack narrow">
            ${formError(props.failed?.error)} ${hidden('intent', 'create')}
            ${groupFields(props.failed?.values ?? {}, props.failed?.error)}
            <div>${button({ label: 'Create group' })}</div>
          </form>
        `,
      )}
    `,
  )

const COLUMNS: Column<GroupView>[] = [
  {
    label: 'Group',
    cell: (group) => html`
      <a href=${`/admin/groups/${group.id}`}><strong>${group.name}</strong></a>
      ${group.description && html`<div class="muted small">${group.description}</div>`}
    `,
  },
  { label: 'People', align: 'end', cell: (group) => group.memberCount },
  { label: 'Since', align: 'end', cell: (group) => day(group.createdAt) },
]

const groupFields = (values: Readonly<Record<string, string>>, error: FormError | undefined): Html => html`
  ${field({ name: 'name', label: 'Name', value: values['name'], error: fieldError(error, 'name'), maxlength: 100 })}
  ${field({
    name: 'description',
    label: 'Description',
    value: values['description'],
    error: fieldError(error, 'description'),
    required: false,
    maxlength: 1000,
  })}
`

type GroupPageProps = WorkspacePageBase & {
  group: GroupView
  members: Paginated<GroupMemberView>
  failed?: Failed | undefined
}

/** One group. Sends `add` with `email`, `remove` with `userId`, `change` with `name` and `description`, or `delete`. */
export const groupPage = (props: GroupPageProps): Html =>
  workspaceFrame(
    props,
    {
      place: 'groups',
      title: props.group.name,
      about: props.group.description,
      crumbs: [{ label: 'Groups', href: '/admin/groups' }],
    },
    html`
      ${
        ['remove', 'delete'].includes(props.failed?.intent ?? '') &&
        notice({ tone: 'bad', message: props.failed?.error.message, live: true })
      }
      ${members(props)} ${settings(props)} ${removal(props)}
    `,
  )

function members({ group, members: { data: rows, pagination: place }, failed }: GroupPageProps): Html {
  const mine = failed?.intent === 'add' ? failed : undefined
  return card(
    { id: 'members', title: 'People', about: 'A project gives the group a role on its People page.' },
    html`
      ${
        place.total === 0
          ? html`<p class="muted">Nobody is in this group yet.</p>`
          : table<GroupMemberView>({ caption: 'People', rows, columns: MEMBER_COLUMNS })
      }
      ${pagination({ ...place, hrefOf: (page) => `/admin/groups/${group.id}?page=${page}` })}
      ${lineError(mine?.error)}
      <form method="post" class="inline-form">
        ${hidden('intent', 'add')}
        ${field({
          name: 'email',
          label: 'Email',
          type: 'email',
          value: mine?.values['email'],
          error: fieldError(mine?.error, 'email'),
        })}
        ${button({ label: 'Add to the group', kind: 'secondary' })}
      </form>
    `,
  )
}

const MEMBER_COLUMNS: Column<GroupMemberView>[] = [
  { label: 'Email', cell: (one) => html`<a href=${`/admin/users/${one.userId}`}>${one.email}</a>` },
  { label: 'Added', cell: (one) => day(one.addedAt) },
  {
    label: 'Actions',
    hideLabel: true,
    align: 'end',
    cell: (one) =>
      confirmDialog(
        {
          id: `remove-${one.userId}`,
          opener: 'Remove',
          accessibleName: `Remove ${one.email}`,
          title: `Remove ${one.email}?`,
          text: 'They immediately lose the access the group gave them.',
          confirm: 'Remove from the group',
        },
        html`${hidden('intent', 'remove')}${hidden('userId', one.userId)}`,
      ),
  },
]

function settings({ group, failed }: GroupPageProps): Html {
  const mine = failed?.intent === 'change' ? failed : undefined
  const values = mine?.values ?? { name: group.name, description: group.description ?? '' }
  return card(
    { id: 'settings', title: 'Name' },
    html`
      <form method="post" class="stack narrow">
        ${formError(mine?.error)} ${hidden('intent', 'change')} ${groupFields(values, mine?.error)}
        <div>${button({ label: 'Save' })}</div>
      </form>
    `,
  )
}

const removal = ({ group }: GroupPageProps): Html =>
  card(
    { id: 'removal', title: 'Delete' },
    confirmDialog(
      {
        id: 'delete-group',
        opener: 'Delete this group',
        openerKind: 'danger',
        title: `Delete ${group.name}?`,
        text: 'Its people immediately lose the access it gave them, on every project.',
        confirm: 'Delete the group',
      },
      hidden('intent', 'delete'),
    ),
  )
