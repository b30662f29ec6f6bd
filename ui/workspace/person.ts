import type { UserOverview } from '../../src/modules/users/overview.ts'
import type { UserView } from '../../src/modules/users/service.ts'
import { badge } from '../components/badge.ts'
import { button } from '../components/button.ts'
import { card } from '../components/card.ts'
import { confirmDialog } from '../components/confirm.ts'
import { copyable } from '../components/copyable.ts'
import { describeUserAgent } from '../components/describe-user-agent.ts'
import { details } from '../components/details.ts'
import { type FormError, field, formError, hidden, selectField } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { keyFate } from '../components/key-fate.ts'
import { notice } from '../components/notice.ts'
import { roleLabel } from '../components/role.ts'
import { type Column, table } from '../components/table.ts'
import { day, time } from '../components/time.ts'
import { typedWord } from '../components/typed-word.ts'
import type { Failed } from '../frame/project-request.ts'
import { type WorkspacePageBase, workspaceFrame } from './frame.ts'
import { ROLES } from './users.ts'

export type UserPageProps = WorkspacePageBase & {
  overview: UserOverview
  /** Just created. Only this response contains the link. */
  reset?: { url: string; expiresAt: string } | undefined
  failed?: Failed | undefined
}

/**
 * One person: what they see and why, where they are signed in, and shutting them out. Sends `change` with `role` and `keys`,
 * `reset-link`, `end-session` with `sessionId`, `end-sessions`, `reset-second-step`, `suspend` with `reason`, `unsuspend`, or
 * `delete` with `keys`. contract 17.6.
 */
export const userPage = (props: UserPageProps): Html =>
  workspaceFrame(
    props,
    { place: 'users', title: accountOf(props).email, crumbs: [{ label: 'Users', href: '/admin/users' }] },
    html`
      ${
        props.failed !== undefined &&
        props.failed.intent !== 'change' &&
        notice({ tone: 'bad', message: props.failed.error.message, live: true })
      }
      ${isSuspended(props) && suspendedNotice(props)}
      ${factsCard(accountOf(props))} ${roleCard(props)} ${projectsCard(props)} ${groupsCard(props)}
      ${sessionsCard(props)} ${secondStepCard(props)} ${keysCard(props)} ${resetCard(props)}
      ${suspendCard(props)} ${removal(props)}
    `,
  )

const accountOf = ({ overview }: UserPageProps): UserView => overview.user
const isSuspended = (props: UserPageProps): boolean => accountOf(props).suspendedAt !== null
const isSelf = (props: UserPageProps): boolean => props.user.email === accountOf(props).email

const suspendedNotice = ({ overview: { user, suspendedReason } }: UserPageProps): Html =>
  notice({
    tone: 'warn',
    message: html`Suspended ${time(user.suspendedAt)}${suspendedReason !== null && `: ${suspendedReason}`}. Nothing lets them in; what is
    theirs stays.`,
  })

const factsCard = (account: UserView): Html =>
  card(
    { id: 'facts', title: 'Account' },
    details([
      ['Email', account.email],
      ['Id', html`<code>${account.id}</code>`],
      ['Since', day(account.createdAt)],
      ['Last seen', time(account.lastSeenAt)],
    ]),
  )

const roleCard = (props: UserPageProps): Html => {
  const { failed } = props
  const account = accountOf(props)
  return card(
    { id: 'role-card', title: 'Role in the workspace', about: 'Takes effect with their next request.' },
    html`
      <form method="post" class="stack narrow">
        ${formError(failed?.intent === 'change' ? failed.error : undefined)} ${hidden('intent', 'change')}
        ${selectField({ name: 'role', label: 'Role', value: account.role, options: ROLES })}
        ${
          account.role === 'admin' &&
          keyFate({
            id: 'role-keys',
            keys: props.overview.keys,
            isSelf: isSelf(props),
            label: 'Their API keys, if they are no admin any more',
          })
        }
        <div>${button({ label: 'Save', accessibleName: 'Save the role' })}</div>
      </form>
    `,
  )
}

const resetCard = ({ reset }: UserPageProps): Html =>
  card(
    {
      id: 'reset',
      title: 'New password',
      about: 'A link to set a new password. It works once, within an hour.',
    },
    reset === undefined
      ? html`
          <form method="post">
            ${hidden('intent', 'reset-link')} ${button({ label: 'Create a link', kind: 'secondary' })}
          </form>
        `
      : html`
          <div class="stack">
            ${notice({ tone: 'warn', live: true, message: 'Copy the link now and send it. It is not shown again.' })}
            ${copyable({ label: 'Link to set a new password', text: reset.url })}
          </div>
        `,
  )

const removal = (props: UserPageProps): Html =>
  card(
    {
      id: 'removal',
      title: 'Delete',
      about: 'Deletes the account with its sessions, roles and memberships.',
    },
    html`${formError(removalError(props))}
    ${confirmDialog(
      {
        id: 'delete-user',
        opener: 'Delete this user',
        openerKind: 'danger',
        title: `Delete ${accountOf(props).email}?`,
        text: 'They are signed out everywhere immediately. This cannot be undone.',
        confirm: 'Delete the user',
      },
      html`
        ${hidden('intent', 'delete')}
        ${keyFate({ id: 'delete-keys', keys: props.overview.keys, isSelf: isSelf(props), label: 'Their API keys' })}
        ${typedWord({
          id: 'delete-confirm',
          word: accountOf(props).email,
          typed: props.failed?.values['confirm'],
          error: removalError(props),
        })}
      `,
    )}`,
  )

const removalError = ({ failed }: UserPageProps): FormError | undefined =>
  failed?.intent === 'delete' ? failed.error : undefined

type Reached = UserOverview['projects'][number]

const projectsCard = ({ overview: { projects } }: UserPageProps): Html =>
  card(
    { id: 'projects', title: 'Projects', about: 'What they may do, and why; and whether they see the site.' },
    projects.length === 0
      ? html`<p class="muted">None.</p>`
      : table<Reached>({ caption: 'Projects', rows: projects, columns: PROJECT_COLUMNS }),
  )

const PROJECT_COLUMNS: Column<Reached>[] = [
  {
    label: 'Project',
    cell: ({ projectId, displayName, owner, name }) =>
      html`<a href=${`/projects/${projectId}`}>${displayName}</a> <span class="muted small">${owner}/${name}</span>`,
  },
  { label: 'Role', cell: ({ role }) => (role === null ? 'None' : roleLabel(role)) },
  {
    label: 'Why',
    cell: ({ why }) => (why.length === 0 ? 'A member without a role' : why.map(sourceOf).join(', ')),
  },
  { label: 'Sees the site', cell: ({ canSeeSite }) => (canSeeSite ? 'Yes' : 'No') },
]

function sourceOf({ kind, name, role }: Reached['why'][number]): string {
  if (kind === 'workspace') return 'administrator of the workspace'
  if (kind === 'owner') return 'owns it'
  return kind === 'group' ? `${role} by the group ${name}` : `${role}, given to them`
}

const groupsCard = ({ overview: { groups } }: UserPageProps): Html =>
  card(
    { id: 'groups', title: 'Groups' },
    groups.length === 0
      ? html`<p class="muted">None.</p>`
      : html`<ul>${groups.map(({ id, name }) => html`<li><a href=${`/admin/groups/${id}`}>${name}</a></li>`)}</ul>`,
  )

type Session = UserOverview['sessions'][number]

const sessionsCard = ({ overview: { sessions } }: UserPageProps): Html =>
  card(
    {
      id: 'sessions',
      title: 'Sessions',
      about: 'Where they are signed in.',
      aside:
        sessions.length > 0 &&
        html`<form method="post">
          ${hidden('intent', 'end-sessions')} ${button({ label: 'End all sessions', kind: 'secondary', small: true })}
        </form>`,
    },
    sessions.length === 0
      ? html`<p class="muted">None.</p>`
      : table<Session>({ caption: 'Sessions', rows: sessions, columns: SESSION_COLUMNS }),
  )

const browserOf = ({ name, userAgent }: Session): string => name ?? describeUserAgent(userAgent)

const SESSION_COLUMNS: Column<Session>[] = [
  { label: 'Where', cell: (one) => html`${browserOf(one)} ${one.kind === 'cli' && badge('Command line')}` },
  { label: 'Address', cell: ({ ip }) => html`<code>${ip}</code>` },
  { label: 'Since', cell: ({ createdAt }) => time(createdAt) },
  { label: 'Last seen', cell: ({ lastSeenAt }) => time(lastSeenAt) },
  {
    label: 'Actions',
    hideLabel: true,
    align: 'end',
    cell: (one) => html`<form method="post">
      ${hidden('intent', 'end-session')} ${hidden('sessionId', one.id)}
      ${button({
        label: 'End session',
        kind: 'secondary',
        small: true,
        accessibleName: `End session: ${browserOf(one)}, ${one.ip}`,
      })}
    </form>`,
  },
]

const secondStepCard = (props: UserPageProps): Html => {
  const { totp, recoveryCodesLeft } = props.overview.secondStep
  return card(
    { id: 'second-step', title: 'Second step', aside: totp ? badge('On', 'good') : badge('Off') },
    totp
      ? html`
          <p>${recoveryCodesLeft} recovery ${recoveryCodesLeft === 1 ? 'code is' : 'codes are'} left.</p>
          ${!isSelf(props) && resetDialog(accountOf(props).email)}
        `
      : html`<p class="muted">They sign in with one step.</p>`,
  )
}

const resetDialog = (email: string): Html =>
  confirmDialog(
    {
      id: 'reset-second-step',
      opener: 'Reset the second step',
      openerKind: 'secondary',
      title: `Reset the second step of ${email}?`,
      text: 'For somebody who lost the app and the recovery codes. They are signed out everywhere, and sign in with the password alone until they set it up again.',
      confirm: 'Reset it',
    },
    hidden('intent', 'reset-second-step'),
  )

type Key = UserOverview['keys'][number]

const keysCard = ({ overview: { keys } }: UserPageProps): Html =>
  card(
    { id: 'keys', title: 'API keys' },
    keys.length === 0
      ? html`<p class="muted">None is theirs.</p>`
      : table<Key>({
          caption: 'API keys',
          rows: keys,
          columns: [
            {
              label: 'Key',
              cell: ({ name, prefix }) => html`<a href="/keys">${name}</a> <code>${prefix}…</code>`,
            },
            { label: 'Last used', align: 'end', cell: ({ lastUsedAt }) => time(lastUsedAt) },
          ],
        }),
  )

function suspendCard(props: UserPageProps): Html {
  const head = {
    id: 'suspend',
    title: 'Suspend',
    about:
      'Signs them out everywhere and lets nothing of theirs in, API keys included, until somebody lets them back in. Roles, groups and projects stay.',
  }
  if (isSuspended(props))
    return card(
      head,
      html`<form method="post">${hidden('intent', 'unsuspend')} ${button({ label: 'Let back in' })}</form>`,
    )
  if (isSelf(props)) return card(head, html`<p class="muted">Nobody suspends themselves.</p>`)
  return card(
    head,
    html`
      <form method="post" class="stack narrow">
        ${hidden('intent', 'suspend')}
        ${field({ name: 'reason', label: 'Reason', maxlength: 500, required: false, hint: 'Administrators see it.' })}
        <div>${button({ label: 'Suspend', kind: 'danger' })}</div>
      </form>
    `,
  )
}
