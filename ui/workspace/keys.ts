import type { Paginated } from '../../src/domain/pagination.ts'
import { SUSPENSION_WORDS } from '../../src/modules/api-keys/service.ts'
import { badge } from '../components/badge.ts'
import { button, linkButton } from '../components/button.ts'
import { card } from '../components/card.ts'
import { confirmDialog } from '../components/confirm.ts'
import { copyable } from '../components/copyable.ts'
import { field, fieldError, formError, hidden, selectField, sentence } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { type NamedKey, suspendedKeysNotice } from '../components/key-fate.ts'
import { mainNav } from '../components/main-nav.ts'
import { type Notice, notice } from '../components/notice.ts'
import { pagination } from '../components/pagination.ts'
import { type Column, table } from '../components/table.ts'
import { day, time } from '../components/time.ts'
import type { PageUser } from '../components/user-menu.ts'
import { appLayout } from '../frame/layout.ts'
import type { Failed } from '../frame/project-request.ts'

type KeyRow = {
  id: string
  name: string
  prefix: string
  projectId: string | null
  isGlobal: boolean
  createdAt: string
  expiresAt: string | null
  lastUsedAt: string | null
  suspendedReason: string | null
}

type KeyProject = { id: string; owner: string; name: string }

export type KeysPageProps = {
  user: PageUser
  found: Paginated<KeyRow>
  projects: readonly KeyProject[]
  /** All that are suspended, on whatever page of the list. */
  suspended: readonly NamedKey[]
  /** Just created. Only this response contains the key. */
  created?: { name: string; key: string } | undefined
  notices?: readonly Notice[]
  failed?: Failed | undefined
}

/**
 * API keys. Sends `intent=create-key` with `name`, `scope` (`global` or a project's id) and `expiresInDays` (empty or
 * one of 30, 90 and 365), or `intent=revoke-key` or `take-over-key` with `keyId`.
 */
export const keysPage = (props: KeysPageProps): Html =>
  appLayout(
    {
      title: 'API keys',
      user: props.user,
      nav: mainNav(props.user, 'keys'),
      help: 'api-keys',
      notices: [...(props.notices ?? []), ...suspendedKeysNotice(props.suspended)],
    },
    html`
      <header class="page-head">
        <div>
          <h1>API keys</h1>
          <p class="muted">
            For the command line, CI and scripts. Send the key in the <code>X-API-Key</code> header, or as${' '}
            <code>Authorization: Bearer</code>.
          </p>
        </div>
        ${linkButton({ label: 'New key', href: '#new-key' })}
      </header>
      <div class="cards">
        ${
          props.failed !== undefined &&
          props.failed.intent !== 'create-key' &&
          notice({ tone: 'bad', message: props.failed.error.message, live: true })
        }
        ${props.created && createdKey(props.created)}
        ${keyList(props)}
        ${newKeyCard(props)}
      </div>
    `,
  )

const createdKey = ({ name, key }: { name: string; key: string }): Html =>
  card(
    { id: 'created', title: `The key “${name}” is ready` },
    html`
      <div class="stack">
        ${notice({ tone: 'warn', live: true, message: 'Copy the key now. It is not shown again, and only its hash is stored.' })}
        ${copyable({ label: 'API key', text: key })}
        <p class="muted">The command line reads the key from <code>SVC_API_KEY</code>.</p>
      </div>
    `,
  )

function newKeyCard({ projects, failed }: KeysPageProps): Html {
  const mine = failed?.intent === 'create-key' ? failed : undefined
  return card(
    { id: 'new-key', title: 'New key' },
    html`
      <form method="post" action="#created" class="stack narrow">
        ${formError(mine?.error)} ${hidden('intent', 'create-key')}
        ${field({
          name: 'name',
          label: 'Name',
          hint: 'What uses it: a repository, a laptop, a person.',
          value: mine?.values['name'],
          error: fieldError(mine?.error, 'name'),
        })}
        ${selectField({
          name: 'scope',
          label: 'Works on',
          hint: 'A project key can publish and change rules in that project only.',
          value: mine?.values['scope'],
          error: fieldError(mine?.error, 'scope'),
          options: [
            { value: 'global', label: 'All projects' },
            ...projects.map((project) => ({ value: project.id, label: projectLabel(project) })),
          ],
        })}
        ${selectField({
          name: 'expiresInDays',
          label: 'Expires',
          value: mine?.values['expiresInDays'],
          error: fieldError(mine?.error, 'expiresInDays'),
          options: LIFETIMES,
        })}
        <div>${button({ label: 'Create key' })}</div>
      </form>
    `,
  )
}

const LIFETIMES = [
  { value: '', label: 'Never' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
]

function keyList({ found, projects }: KeysPageProps): Html {
  const ids = new Set(found.data.map(({ projectId }) => projectId))
  const shown = projects.filter(({ id }) => ids.has(id))
  const names = new Map(shown.map((project) => [project.id, projectLabel(project)]))
  return card(
    { id: 'keys', title: 'Keys' },
    found.pagination.total === 0
      ? html`<p class="muted">No keys yet.</p>`
      : html`
          ${table<KeyRow>({ caption: 'API keys', rows: found.data, columns: keyColumns(names) })}
          ${pagination({ ...found.pagination, hrefOf: (page) => `/keys?page=${page}` })}
        `,
  )
}

const keyColumns = (names: ReadonlyMap<string, string>): Column<KeyRow>[] => [
  {
    label: 'Name',
    cell: (key) =>
      html`
      <strong>${key.name}</strong> ${key.suspendedReason !== null && badge('Suspended', 'warn')}
      <div class="muted small"><code>${key.prefix}…</code>, created ${day(key.createdAt)}</div>
      ${key.suspendedReason !== null && html`<div class="small">${sentence(WORDS.get(key.suspendedReason) ?? key.suspendedReason)}</div>`}
    `,
  },
  { label: 'Works on', cell: (key) => (key.isGlobal ? 'All projects' : names.get(key.projectId ?? '')) },
  { label: 'Last used', cell: (key) => time(key.lastUsedAt) },
  { label: 'Expires', cell: (key) => time(key.expiresAt) },
  {
    label: 'Actions',
    hideLabel: true,
    align: 'end',
    cell: (key) => html`${key.suspendedReason !== null && takeOver(key)} ${revoke(key)}`,
  },
]

const WORDS = new Map<string, string>(Object.entries(SUSPENSION_WORDS))

const takeOver = (key: KeyRow): Html =>
  confirmDialog(
    {
      id: `take-over-${key.id}`,
      opener: 'Take over',
      accessibleName: `Take over ${key.name}`,
      title: `Take over ${key.name}?`,
      text: 'The key works again, for everything that has it, and is yours. Revoke it instead if you do not know what uses it.',
      confirm: 'Take over the key',
    },
    html`${hidden('intent', 'take-over-key')}${hidden('keyId', key.id)}`,
  )

const revoke = (key: KeyRow): Html =>
  confirmDialog(
    {
      id: `revoke-${key.id}`,
      opener: 'Revoke',
      accessibleName: `Revoke ${key.name}`,
      title: `Revoke ${key.name}?`,
      text: 'Everything that uses this key stops working immediately. This cannot be undone.',
      confirm: 'Revoke the key',
    },
    html`${hidden('intent', 'revoke-key')}${hidden('keyId', key.id)}`,
  )

const projectLabel = ({ owner, name }: KeyProject): string => `${owner}/${name}`
