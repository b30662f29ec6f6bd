import { type Paginated, pageOfRows } from '../../src/domain/pagination.ts'
import { PROJECT_ROLES } from '../../src/domain/roles.ts'
import type { GroupView } from '../../src/modules/groups/service.ts'
import type { InvitationView } from '../../src/modules/invitations/service.ts'
import type {
  GroupPermissionView,
  MemberView,
  PermissionsView,
} from '../../src/modules/members/permissions.ts'
import type { InvitationMail } from '../../src/modules/notices/outbox.ts'
import { badge } from '../components/badge.ts'
import { button, linkButton } from '../components/button.ts'
import { card } from '../components/card.ts'
import { confirmDialog } from '../components/confirm.ts'
import { copyable } from '../components/copyable.ts'
import { field, fieldError, formError, hidden, lineError, selectField } from '../components/field.ts'
import { type Content, type Html, html } from '../components/html.ts'
import { invitationMail } from '../components/invitation-mail.ts'
import { notice } from '../components/notice.ts'
import { pagination } from '../components/pagination.ts'
import { roleLabel } from '../components/role.ts'
import { sides } from '../components/sides.ts'
import { type Column, table } from '../components/table.ts'
import { day, time } from '../components/time.ts'
import { type ProjectPageBase, projectFrame, projectHref } from '../frame/project-frame.ts'
import { type Failed, queryText } from '../frame/project-request.ts'

export type PeoplePageProps = ProjectPageBase & {
  permissions: PermissionsView
  members: readonly MemberView[]
  /** Null for people who may not see them. */
  invitations: Paginated<InvitationView> | null
  /** Of the people. */
  page: number
  /** The groups of the workspace; null for people who may not list them. */
  groups: readonly GroupView[] | null
  /** Just created. Only this response contains the link. */
  invited?: { email: string; role: string; url: string | null; mail: InvitationMail | null } | undefined
  failed?: Failed | undefined
}

/** Who has access, and why. Forms send `invite`, `grant-user`, `grant-group`, `revoke-group`, `revoke-invitation`. */
export const peoplePage = (props: PeoplePageProps): Html =>
  projectFrame(
    props,
    {
      tab: 'people',
      title: 'People',
      about: html`<p class="muted">A person’s role is the highest of their own and those of their groups.</p>`,
      aside: props.can.managePeople && linkButton({ label: 'Invite somebody', href: '#invite' }),
    },
    html`
      ${looseError(props.failed)} ${props.invited && invitedCard(props.invited)}
      ${sides(people(props), props.can.managePeople && inviteCard(props))}
      ${sides(groupCard(props), props.invitations !== null && invitationCard(props, props.invitations))}
    `,
  )

/** The error of a button in a list, which has no form to show it. */
const looseError = (failed: Failed | undefined): Html | null =>
  failed?.intent.startsWith('revoke-')
    ? notice({ tone: 'bad', message: failed.error.message, live: true })
    : null

const invitedCard = ({ email, role, url, mail }: NonNullable<PeoplePageProps['invited']>): Html =>
  card(
    { id: 'invited', title: url === null ? `${email} has access` : `${email} is invited` },
    url === null
      ? notice({
          tone: 'good',
          live: true,
          message: `The account already exists, so it has the role ${role} now. No email is sent, so tell them.`,
        })
      : html`
          <div class="stack">
            ${invitationMail(mail ?? 'not_configured')}
            ${copyable({ label: 'Invitation link, valid for 7 days', text: url })}
          </div>
        `,
  )

const PER_PAGE = 50

type Person = {
  userId: string
  email: string
  direct: string | null
  effective: string | null
  joinedAt: string | null
}

function people(props: PeoplePageProps): Html {
  const { permissions, members, project } = props
  const byId = new Map<string, Person>()
  for (const { userId, email, role, joinedAt } of members)
    byId.set(userId, { userId, email, direct: null, effective: role, joinedAt })
  for (const { userId, email, role } of permissions.users) {
    const known = byId.get(userId) ?? { userId, email, effective: role, joinedAt: null }
    byId.set(userId, { ...known, direct: role })
  }
  const sorted = [...byId.values()].sort((a, b) => a.email.localeCompare(b.email))
  const { rows, ...place } = pageOfRows(sorted, props.page, PER_PAGE)
  return card(
    { id: 'people', title: 'People with access' },
    html`
      ${table<Person>({ caption: 'People', rows, columns: personColumns(project.id) })}
      ${pagination({ ...place, hrefOf: (page) => placeHref(props, { page }) })}
    `,
  )
}

/** The address of other pages of the two lists. */
function placeHref(
  { project, page, invitations }: PeoplePageProps,
  place: { page?: number; invitations?: number },
): string {
  const shown = { page, invitations: invitations?.pagination.page }
  return projectHref(project.id, `/people${queryText({ ...shown, ...place })}`)
}

const personColumns = (projectId: string): Column<Person>[] => [
  {
    label: 'Person',
    cell: (person) => html`<a href=${projectHref(projectId, `/people/${person.userId}`)}>${person.email}</a>`,
  },
  {
    label: 'Role',
    cell: ({ effective }) =>
      html`<span class="nowrap">${effective === null ? 'None' : roleLabel(effective)}</span>`,
  },
  {
    label: 'From',
    cell: (person) => html`<span class="nowrap">${grantedBy(person)}</span>`,
  },
  { label: 'Member since', cell: ({ joinedAt }) => day(joinedAt, 'Not a member') },
]

function grantedBy({ direct, effective }: Person): string {
  if (effective === null) return 'Membership only'
  return direct === effective ? 'Their own' : 'A group'
}

const ROLE_HINTS = {
  guest: 'sees the private site',
  viewer: 'also sees these pages and all stored data',
  contributor: 'publishes and changes rules',
  admin: 'manages people, settings and domains',
} as const

/** Offers all roles that can be given. Ownership can only be transferred. */
export const roleField = (id: string, value: string | undefined, error?: string): Html =>
  selectField({
    name: 'role',
    id,
    label: 'Role',
    value: value ?? 'guest',
    error,
    options: PROJECT_ROLES.filter((role) => role !== 'owner').map((role) => ({
      value: role,
      label: `${roleLabel(role)}: ${ROLE_HINTS[role]}`,
    })),
  })

function inviteCard({ failed }: PeoplePageProps): Html {
  const mine = failed?.intent === 'invite' ? failed : undefined
  return card(
    {
      id: 'invite',
      title: 'Invite somebody',
      about:
        'An existing account gets the role immediately, without a mail. For anybody else you get a link, which is mailed to them where this server sends mail.',
    },
    html`
      <form method="post" action="#invited" class="stack narrow">
        ${formError(mine?.error)} ${hidden('intent', 'invite')}
        ${field({
          name: 'email',
          label: 'Email',
          type: 'email',
          value: mine?.values['email'],
          error: fieldError(mine?.error, 'email'),
        })}
        ${roleField('role', mine?.values['role'], fieldError(mine?.error, 'role'))}
        <div>${button({ label: 'Invite' })}</div>
      </form>
    `,
  )
}

function groupCard({ permissions, groups, can, failed }: PeoplePageProps): Html {
  const rows = permissions.groups
  return card(
    { id: 'groups', title: 'Groups', about: 'Everybody in a group has the group’s role here.' },
    html`
      ${
        rows.length === 0
          ? html`<p class="muted">No group has a role on this project.</p>`
          : table<GroupPermissionView>({ caption: 'Groups', rows, columns: groupColumns(can.managePeople) })
      }
      ${can.managePeople && groupForm(groups, failed?.intent === 'grant-group' ? failed : undefined)}
    `,
  )
}

const groupColumns = (canManage: boolean): Column<GroupPermissionView>[] => [
  { label: 'Group', cell: (group) => html`<strong>${group.name}</strong>` },
  { label: 'Role', cell: (group) => roleLabel(group.role) },
  { label: 'Since', cell: (group) => day(group.grantedAt) },
  {
    label: 'Actions',
    hideLabel: true,
    align: 'end',
    cell: (group) =>
      canManage &&
      confirmDialog(
        {
          id: `revoke-${group.groupId}`,
          opener: 'Remove',
          accessibleName: `Remove ${group.name}`,
          title: `Remove ${group.name} from the project?`,
          text: 'Its people immediately lose the access the group gave them. The group itself is kept.',
          confirm: 'Remove from the project',
        },
        html`${hidden('intent', 'revoke-group')}${hidden('groupId', group.groupId)}`,
      ),
  },
]

function groupForm(groups: PeoplePageProps['groups'], failed: Failed | undefined): Html {
  if (groups !== null && groups.length === 0)
    return html`<p>There are no groups yet. <a href="/admin/groups">Create one</a>.</p>`
  const common = {
    name: 'groupId',
    value: failed?.values['groupId'],
    error: fieldError(failed?.error, 'groupId'),
  }
  return html`
    ${lineError(failed?.error)}
    <form method="post" class="inline-form">
      ${hidden('intent', 'grant-group')}
      ${
        groups === null
          ? field({
              ...common,
              label: 'Group',
              hint: 'The group id. Workspace administrators can tell you.',
              verbatim: true,
            })
          : selectField({
              ...common,
              label: 'Group',
              options: groups.map(({ id, name }) => ({ value: id, label: name })),
            })
      }
      ${roleField('group-role', failed?.values['role'], fieldError(failed?.error, 'role'))}
      ${button({ label: 'Give the role', kind: 'secondary' })}
    </form>
  `
}

const TONES = { pending: 'info', accepted: 'good', expired: 'warn' } as const

function invitationCard(
  props: PeoplePageProps,
  { data: rows, pagination: place }: Paginated<InvitationView>,
): Html {
  return card(
    { id: 'invitations', title: 'Invitations' },
    place.total === 0
      ? html`<p class="muted">Nobody has been invited yet.</p>`
      : html`
          ${table<InvitationView>({ caption: 'Invitations', rows, columns: INVITATION_COLUMNS })}
          ${pagination({ ...place, hrefOf: (invitations) => `${placeHref(props, { invitations })}#invitations` })}
        `,
  )
}

const INVITATION_COLUMNS: Column<InvitationView>[] = [
  { label: 'Email', cell: (one) => one.email },
  { label: 'Role', cell: (one) => roleLabel(one.role) },
  { label: 'Status', cell: (one): Content => badge(roleLabel(one.status), TONES[one.status]) },
  { label: 'Invited', cell: (one) => time(one.createdAt) },
  {
    label: 'Actions',
    hideLabel: true,
    align: 'end',
    cell: (one) =>
      one.status !== 'accepted' &&
      confirmDialog(
        {
          id: `take-back-${one.id}`,
          opener: 'Withdraw',
          accessibleName: `Withdraw the invitation of ${one.email}`,
          title: `Withdraw the invitation of ${one.email}?`,
          text: 'The invitation link stops working.',
          confirm: 'Withdraw it',
        },
        html`${hidden('intent', 'revoke-invitation')}${hidden('invitationId', one.id)}`,
      ),
  },
]
