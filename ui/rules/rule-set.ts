import type { RevisionView, RuleSetWithRules } from '../../src/modules/rule-sets/service.ts'
import { badge } from '../components/badge.ts'
import { button } from '../components/button.ts'
import { card } from '../components/card.ts'
import { confirmDialog } from '../components/confirm.ts'
import { details } from '../components/details.ts'
import { field, fieldError, formError, hidden } from '../components/field.ts'
import { type Content, type Html, html } from '../components/html.ts'
import { shortSha } from '../components/sha.ts'
import { type Column, table } from '../components/table.ts'
import { time } from '../components/time.ts'
import { makerName } from '../deployments/deployment-table.ts'
import { type ProjectPageBase, projectFrame } from '../frame/project-frame.ts'
import type { Failed } from '../frame/project-request.ts'
import { ruleList } from './rule-list.ts'
import { provenance, rulesHref } from './rule-words.ts'

type RuleSetPageProps = ProjectPageBase & {
  set: RuleSetWithRules
  /** Newest first: the first is the current one. */
  revisions: readonly RevisionView[]
  failed?: Failed | undefined
}

/**
 * One rule set. Sends `intent=settings` with `name`, `description` and `environment`, `intent=everywhere`,
 * `intent=rollback` with `revisionId`, or `intent=delete`.
 */
export const ruleSetPage = (props: RuleSetPageProps): Html => {
  const { set, can, failed } = props
  return projectFrame(
    props,
    {
      tab: 'rules',
      title: set.name,
      crumbs: [{ label: 'Rules', href: rulesHref(props.project.id) }],
      about: html`
        <p>${set.isPreview && badge('Preview', 'info')} ${set.environment !== null && badge(set.environment)}</p>
      `,
    },
    html`
      ${failed !== undefined && failed.intent !== 'settings' && formError(failed.error)} ${facts(props)}
      ${rules(props)} ${history(props)} ${can.configureTraffic && settings(props)}
      ${can.configureTraffic && removal(props)}
    `,
  )
}

const facts = (props: RuleSetPageProps): Html => {
  const { set, project } = props
  return card(
    { id: 'facts', title: 'Where it is live', about: set.description },
    html`
      ${set.source !== null && provenance(set.source)}
      ${details([['Live on', liveOn(project.id, set)]])}
      ${props.can.configureTraffic && mayGoLive(set) && everywhere}
    `,
  )
}

function liveOn(projectId: string, set: RuleSetWithRules): Content {
  if (set.liveOn === 'project') return 'Every site of the project'
  if (set.aliases.length === 0) return 'No site until it is attached to an alias'
  return set.aliases.map(
    (name, at) =>
      html`${at > 0 && ', '}<a href=${rulesHref(projectId, `?alias=${encodeURIComponent(name)}`)}>${name}</a>`,
  )
}

/** The button is not shown for a preview or for a set that is attached to an alias. */
const mayGoLive = ({ liveOn, isPreview, aliases }: RuleSetWithRules): boolean =>
  liveOn === 'aliases' && !isPreview && aliases.length === 0

const everywhere = html`
  <form method="post">
    ${hidden('intent', 'everywhere')} ${button({ label: 'Make it live on every site', kind: 'secondary' })}
  </form>
`

const rules = ({ set }: RuleSetPageProps): Html =>
  card(
    { id: 'rules', title: 'Rules', about: 'In the order they are tried.' },
    set.rules.length === 0
      ? html`<p class="muted">This set has no rules.</p>`
      : ruleList({ label: `Rules of ${set.name}`, rules: set.rules }),
  )

const history = (props: RuleSetPageProps): Html =>
  card(
    { id: 'revisions', title: 'Revisions', about: 'The last 20 pushes that changed the set.' },
    table<RevisionView>({ caption: 'Revisions', rows: props.revisions, columns: columnsOf(props) }),
  )

const columnsOf = (props: RuleSetPageProps): Column<RevisionView>[] => [
  {
    label: 'Commit',
    cell: ({ gitSha }) => (gitSha === null ? html`<span class="muted">None</span>` : shortSha(gitSha)),
  },
  { label: 'Rules', align: 'end', cell: ({ ruleCount }) => ruleCount },
  { label: 'Schedules', cell: ({ schedules }) => scheduleNames(schedules) },
  { label: 'By', cell: ({ createdBy }) => makerName(createdBy) },
  { label: 'When', cell: ({ createdAt }) => time(createdAt) },
  {
    label: 'Actions',
    hideLabel: true,
    align: 'end',
    cell(revision) {
      if (revision.id === props.revisions[0]?.id) return badge('Now', 'good')
      return props.can.configureTraffic && rollBack(revision)
    },
  },
]

const NAMED = 3

/** Of a revision that stored none, a rollback leaves them alone. */
function scheduleNames(names: RevisionView['schedules']): Content {
  if (names === null || names.length === 0)
    return html`<span class="muted">${names === null ? 'Not stored' : 'None'}</span>`
  const more = names.length - NAMED
  return [names.slice(0, NAMED).join(', '), ...(more > 0 ? [`and ${more} more`] : [])].join(' ')
}

const rollBack = ({ id, gitSha, ruleCount, schedules }: RevisionView): Html =>
  confirmDialog(
    {
      id: `rollback-${id}`,
      opener: 'Roll back',
      accessibleName: `Roll back to ${gitSha?.slice(0, 12) ?? 'this revision'}`,
      title: 'Roll the set back?',
      text: `Its rules become the ${ruleCount} of that revision immediately${schedules === null ? '' : `, and its schedules the ${schedules.length}`}. Schemas and records are kept. The next push overwrites this.`,
      confirm: 'Roll back',
    },
    html`${hidden('intent', 'rollback')} ${hidden('revisionId', id)}`,
  )

function settings({ set, failed }: RuleSetPageProps): Html {
  const own = failed?.intent === 'settings' ? failed : undefined
  const of = (name: 'name' | 'description' | 'environment') => ({
    name,
    value: own?.values[name] ?? set[name] ?? '',
    error: fieldError(own?.error, name),
  })
  return card(
    {
      id: 'settings',
      title: 'Settings',
      about: 'A push finds its set by name, so rename it in the files too.',
    },
    html`
      <form method="post" class="stack narrow">
        ${formError(own?.error)} ${hidden('intent', 'settings')}
        ${field({ ...of('name'), label: 'Name', verbatim: true })}
        ${field({ ...of('description'), label: 'Description', required: false })}
        ${field({ ...of('environment'), label: 'Environment', hint: 'A label.', required: false })}
        <div>${button({ label: 'Save' })}</div>
      </form>
    `,
  )
}

const removal = ({ set }: RuleSetPageProps): Html =>
  card(
    {
      id: 'removal',
      title: 'Delete',
      about:
        set.aliases.length === 0
          ? 'This deletes the set with its rules and revisions. Schemas and records are kept.'
          : `It is attached to aliases. Detach it from ${set.aliases.join(', ')} first.`,
    },
    set.aliases.length === 0 &&
      confirmDialog(
        {
          id: 'delete-set',
          opener: 'Delete this rule set',
          openerKind: 'danger',
          title: `Delete the rule set ${set.name}?`,
          text: 'Requests that matched its rules go to the next rule or to a file.',
          confirm: 'Delete the rule set',
        },
        hidden('intent', 'delete'),
      ),
  )
