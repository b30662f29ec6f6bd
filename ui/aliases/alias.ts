import { waysBack } from '../../src/domain/alias-line.ts'
import { PROJECT_ROLES } from '../../src/domain/roles.ts'
import type { AliasHosts, AliasView, HistoryView } from '../../src/modules/aliases/service.ts'
import type { CertificateState } from '../../src/platform/certificates.ts'
import { badge } from '../components/badge.ts'
import { button, linkButton } from '../components/button.ts'
import { card } from '../components/card.ts'
import { confirmDialog } from '../components/confirm.ts'
import { details } from '../components/details.ts'
import { checkbox, fieldError, formError, hidden, selectField } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { htmlHandlingField, htmlHandlingWord } from '../components/html-handling.ts'
import { notice } from '../components/notice.ts'
import { roleLabel } from '../components/role.ts'
import { commit, shortSha } from '../components/sha.ts'
import { sides } from '../components/sides.ts'
import { type Column, table } from '../components/table.ts'
import { time } from '../components/time.ts'
import { deploymentLink, makerName } from '../deployments/deployment-table.ts'
import { certificateState } from '../domains/certificate-state.ts'
import { type ProjectPageBase, projectFrame, projectHref } from '../frame/project-frame.ts'
import type { Failed } from '../frame/project-request.ts'
import { type AliasRulesProps, aliasRules } from './alias-rules.ts'
import { aliasHref } from './aliases.ts'
import { moveName } from './move-name.ts'
import { endOf, previewActions, pullRequest } from './previews.ts'

type AliasPageProps = ProjectPageBase & {
  alias: AliasView
  /** The link to its host for this person. */
  visitUrl: string
  /** Newest first: the first entry is where the alias points now. */
  history: readonly HistoryView[]
  ruleSets: AliasRulesProps['ruleSets']
  /** The certificate of its host. */
  certificate: CertificateState
  /** Domains that need it: it cannot be deleted while there are any. */
  hosts: AliasHosts
  failed?: Failed | undefined
}

/** One alias. Sends `intent=settings` with `isPublic`, `requiredRole`, `isSpa`, `isLocked`, or `intent=delete`. */
export const aliasPage = (props: AliasPageProps): Html =>
  projectFrame(
    props,
    {
      tab: 'aliases',
      title: props.alias.name,
      crumbs: [{ label: 'Aliases', href: projectHref(props.project.id, '/aliases') }],
      about: badges(props.alias),
      aside: html`
        <div class="actions">
          ${linkButton({ label: 'Visit', href: props.visitUrl, kind: 'secondary' })} ${rollBackButtons(props)}
        </div>
      `,
    },
    html`
      ${endRefused(props)} ${sides(facts(props), historyCard(props))} ${aliasRules(props)}
      ${sides(props.can.manageAliases && settings(props), endOrRemoval(props))}
    `,
  )

const badges = ({ isLocked, isPreview }: AliasView): Html | false =>
  (isLocked || isPreview) &&
  html`<p class="facts">${isPreview && badge('Preview', 'info')} ${isLocked && badge('Locked', 'warn')}</p>`

/** A preview ends instead of being deleted, by whoever may move it. */
function endOrRemoval(props: AliasPageProps): Html | false {
  const { alias, can, hosts } = props
  if (alias.isPreview) return (can.moveAliases || can.endPreviews) && previewEnd(props)
  return can.manageAliases && (isInUse(hosts) ? inUse(props) : removal(props))
}

/** The alias may be no preview any more. */
const endRefused = ({ failed }: AliasPageProps): Html | false =>
  failed !== undefined &&
  PREVIEW_FORMS.includes(failed.intent) &&
  notice({ tone: 'bad', message: failed.error.message, live: true })

const PREVIEW_FORMS = ['extend', 'keep', 'end']

const previewEnd = (props: AliasPageProps): Html =>
  card(
    { id: 'end', title: 'End', about: html`Ends: ${endOf(props.alias)}. Each publish begins its time anew.` },
    html`
      ${previewActions(props, props.alias)}
    `,
  )

/** Ids begin with the time of their making, so that after a rollback the newer deployment is not taken for a way back. */
const isEarlier = (move: HistoryView, alias: AliasView): boolean => move.deploymentId < alias.deploymentId

const moveHref = (alias: AliasView, deploymentId: string): string =>
  `${aliasHref(alias.projectId, alias.id, '/move')}?to=${deploymentId}`

/** Along the line of the alias; right after that, to what was left. contract 17.9. */
function rollBackButtons({ alias, can, history }: AliasPageProps): Html | false {
  if (!can.moveAliases) return false
  const { rollBackTo, returnTo } = waysBack(history)
  const button = (verb: string, move: HistoryView | undefined) =>
    move !== undefined &&
    linkButton({
      label: `${verb} ${moveName(move)}`,
      href: moveHref(alias, move.deploymentId),
      kind: 'secondary',
    })
  return html`${button('Return to', returnTo)} ${button('Roll back to', rollBackTo)}`
}

const facts = ({ alias, certificate }: AliasPageProps): Html =>
  card(
    { id: 'facts', title: 'Where it points' },
    details([
      ['Address', html`<a href=${alias.url}>${alias.url}</a>`],
      [
        'Deployment',
        html`${deploymentLink(alias.projectId, alias)} <span class="muted">${commit(alias.commitSha)}</span>`,
      ],
      ['Ends', alias.isPreview && endOf(alias)],
      ['Pull request', pullRequest(alias)],
      ['Changed', time(alias.updatedAt)],
      ['Certificate', certificateState(certificate)],
    ]),
  )

const historyCard = (props: AliasPageProps): Html =>
  card(
    {
      id: 'history',
      title: 'History',
      about: 'Rolling back moves the alias. Nothing is copied, so it is instant.',
    },
    table<HistoryView>({ caption: 'History', rows: props.history, columns: historyColumns(props) }),
  )

const historyColumns = (props: AliasPageProps): Column<HistoryView>[] => [
  {
    label: 'Deployment',
    cell: (move) => html`
      ${movedTo(props.project.id, move)}
      <div class="muted small">${commit(move.commitSha)}</div>
    `,
  },
  { label: 'Why', cell: (move) => REASONS[move.reason] },
  { label: 'By', cell: (move) => makerName(move.movedBy) },
  { label: 'When', cell: (move) => time(move.movedAt) },
  {
    label: 'Actions',
    hideLabel: true,
    align: 'end',
    cell(move) {
      if (move === props.history[0]) return badge('Now', 'good')
      if (move.deploymentId === props.alias.deploymentId || !move.exists || !props.can.moveAliases) return ''
      const verb = isEarlier(move, props.alias) ? 'Roll back' : 'Move'
      return html`
        <a
          class="btn btn-secondary btn-small"
          href=${moveHref(props.alias, move.deploymentId)}
          aria-label=${`${verb} to ${moveName(move)}`}
        >${verb}</a>
      `
    },
  },
]

function movedTo(projectId: string, { number, title, commitSha, exists }: HistoryView): Html {
  if (number === null) return html`${shortSha(commitSha)} <span class="muted">deleted</span>`
  return exists
    ? deploymentLink(projectId, { number, title })
    : html`#${number} <span class="muted">deleted</span>`
}

const REASONS: Record<HistoryView['reason'], string> = {
  create: 'Created',
  publish: 'Published',
  move: 'Moved',
  rollback: 'Rolled back',
}

function settings({ alias, project, failed }: AliasPageProps): Html {
  const mine = failed?.intent === 'settings' ? failed : undefined
  const values = mine?.values
  const inherited = (what: string) => ({ value: '', label: `As the project: ${what}` })
  return card(
    { id: 'settings', title: 'Who sees it, and how', about: 'These settings override those of the project.' },
    html`
      <form method="post" class="stack narrow">
        ${formError(mine?.error)} ${hidden('intent', 'settings')}
        ${selectField({
          name: 'isPublic',
          label: 'Visibility',
          value: values?.['isPublic'] ?? textOf(alias.isPublic),
          options: [
            inherited(project.isPublic ? 'public' : 'private'),
            { value: 'true', label: 'Public: anyone' },
            { value: 'false', label: 'Private: people with a role' },
          ],
        })}
        ${selectField({
          name: 'requiredRole',
          label: 'Required role when private',
          value: values?.['requiredRole'] ?? alias.requiredRole ?? '',
          options: [
            inherited(roleLabel(project.requiredRole)),
            ...PROJECT_ROLES.map((role) => ({ value: role, label: `${roleLabel(role)} or higher` })),
          ],
        })}
        ${selectField({
          name: 'isSpa',
          label: 'Unknown addresses',
          hint: 'A single-page app answers them with its 200.html or index.html.',
          value: values?.['isSpa'] ?? textOf(alias.isSpa),
          options: [
            inherited(spaWord(project.isSpa)),
            { value: 'true', label: 'Show its page: a single-page app' },
            { value: 'false', label: 'Show the 404 page' },
          ],
        })}
        ${htmlHandlingField({
          value: values?.['htmlHandling'] ?? alias.htmlHandling ?? '',
          unset: `As the project: ${htmlHandlingWord(project.htmlHandling)}`,
          error: fieldError(mine?.error, 'htmlHandling'),
        })}
        ${checkbox({
          name: 'isLocked',
          label: 'Locked',
          hint: 'Uploads do not move it. Project admins still can.',
          checked: alias.isLocked,
        })}
        <div>${button({ label: 'Save' })}</div>
      </form>
    `,
  )
}

const textOf = (value: boolean | null): string => (value === null ? '' : String(value))

/** The effect of this setting; null means it is not set. contract §6. */
export const spaWord = (isSpa: boolean | null): string =>
  isSpa === null ? 'depends on its files' : isSpa ? 'the page of the app' : 'the 404 page'

const isInUse = ({ mapped, split }: AliasHosts): boolean => mapped.length + split.length > 0

const inUse = ({ project, hosts, failed }: AliasPageProps): Html =>
  card(
    {
      id: 'removal',
      title: 'Delete',
      about: html`It is in use. Change these <a href=${projectHref(project.id, '/domains')}>domains</a> first.`,
    },
    html`
      ${formError(failed?.intent === 'delete' ? failed.error : undefined)}
      <ul>
        ${hosts.mapped.map((host) => html`<li><code>${host}</code> is mapped to it</li>`)}
        ${hosts.split.map((host) => html`<li><code>${host}</code> names it in its traffic split</li>`)}
      </ul>
    `,
  )

function removal({ alias, failed }: AliasPageProps): Html {
  const mine = failed?.intent === 'delete' ? failed : undefined
  return card(
    { id: 'removal', title: 'Delete', about: 'Its address stops working. Its deployments stay.' },
    html`${formError(mine?.error)}
    ${confirmDialog(
      {
        id: 'delete-alias',
        opener: 'Delete this alias',
        openerKind: 'danger',
        title: `Delete ${alias.name}?`,
        text: html`Nobody can reach <strong>${alias.url}</strong> any more. It can be undone for 30 days.`,
        confirm: 'Delete the alias',
      },
      html`
        ${hidden('intent', 'delete')}
      `,
    )}`,
  )
}
