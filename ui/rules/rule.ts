import type { RuleView } from '../../src/modules/proxy-rules/service.ts'
import type { RunView } from '../../src/modules/runs/service.ts'
import { aliasHref } from '../aliases/aliases.ts'
import { badge } from '../components/badge.ts'
import { button, linkButton } from '../components/button.ts'
import { card } from '../components/card.ts'
import { formatCount } from '../components/chart.ts'
import { confirmDialog } from '../components/confirm.ts'
import { details } from '../components/details.ts'
import { formError, hidden } from '../components/field.ts'
import { type Content, type Html, html } from '../components/html.ts'
import { type ProjectPageBase, projectFrame } from '../frame/project-frame.ts'
import type { Failed } from '../frame/project-request.ts'
import { pipelineCards } from './pipeline-steps.ts'
import {
  deedOf,
  disabledBadge,
  KIND_WORDS,
  methodText,
  provenance,
  ruleHref,
  ruleName,
  rulesHref,
  setHref,
} from './rule-words.ts'
import { runsTable } from './runs-table.ts'

/** A rule as pages may show it. Headers say only whether they have a value. */
export type ShownRule = Omit<RuleView, 'headerConfig'> & {
  headers: readonly { name: string; hasValue: boolean }[]
  forward: readonly string[] | null
  strip: readonly string[]
}

export type RulePageProps = ProjectPageBase & {
  rule: ShownRule
  /** The alias or set that the rule belongs to; null for all sites of the project. */
  place: { kind: 'alias' | 'set'; id: string; name: string } | null
  /** True if the person chose to edit a rule of the repository here. */
  isUnlocked: boolean
  /** The latest runs of a pipeline; null for other rules. */
  runs: readonly RunView[] | null
  failed?: Failed | undefined
}

/**
 * One rule. Sends `intent=unlock`, `intent=switch` with `isEnabled`, or `intent=delete`. A rule of a set also sends
 * `unlocked=true`.
 */
export const rulePage = (props: RulePageProps): Html => {
  const { rule, project } = props
  return projectFrame(
    props,
    {
      tab: 'rules',
      title: ruleName(rule),
      crumbs: [{ label: 'Rules', href: rulesHref(project.id) }],
      about: html`<p>${badge(KIND_WORDS[rule.proxyType], 'info')} ${disabledBadge(rule)}</p>`,
      aside: actions(props),
    },
    html`
      ${formError(props.failed?.error)} ${rule.source !== null && managed(props, rule.source)} ${facts(props)}
      ${rule.proxyType === 'pipeline' && pipelineCards(rule)} ${props.runs !== null && runsCard(props, props.runs)}
      ${mayChange(props) && removal(props)}
    `,
  )
}

const mayChange = ({ can, rule, isUnlocked }: RulePageProps): boolean =>
  can.configureTraffic && (rule.source === null || isUnlocked)

const unlocked = ({ isUnlocked }: RulePageProps): Html | null =>
  hidden('unlocked', isUnlocked ? 'true' : undefined)

function actions(props: RulePageProps): Html {
  const { rule, project, isUnlocked } = props
  const test = rulesHref(project.id, `/test?rule=${rule.id}`)
  return html`
    <div class="actions">
      ${
        mayChange(props) &&
        linkButton({
          label: 'Edit',
          href: ruleHref(project.id, rule.id, isUnlocked ? '/edit?unlocked=true' : '/edit'),
        })
      }
      ${mayChange(props) && switchForm(props)} ${linkButton({ label: 'Test', href: test, kind: 'secondary' })}
    </div>
  `
}

const switchForm = (props: RulePageProps): Html => html`
  <form method="post">
    ${hidden('intent', 'switch')} ${unlocked(props)} ${hidden('isEnabled', String(!props.rule.isEnabled))}
    ${button({ label: props.rule.isEnabled ? 'Disable' : 'Enable', kind: 'secondary' })}
  </form>
`

const managed = (props: RulePageProps, source: NonNullable<RuleView['source']>): Html =>
  card(
    {
      id: 'managed',
      title: 'Managed by the repository',
      about: `This rule comes from files. To change it, edit them and push.${
        props.rule.headers.length > 0
          ? ' Only its header values are set here: unlock it, choose Edit, and enter them under Headers.'
          : ''
      }`,
    },
    html`
      ${provenance(source)}
      ${
        props.can.configureTraffic &&
        (props.isUnlocked
          ? html`<p>${badge('Unlocked', 'warn')} You can change it here. The next push overwrites your changes, except header values.</p>`
          : unlockDialog)
      }
    `,
  )

const unlockDialog = confirmDialog(
  {
    id: 'unlock',
    opener: 'Edit it here anyway',
    title: 'Edit it here, not in the repository?',
    text: 'The next push of this rule set overwrites your changes, so change the files too. Header values are kept, because no file contains them.',
    confirm: 'Unlock this rule',
  },
  hidden('intent', 'unlock'),
)

/** `stripPrefix` removes everything before the first `*`. contract §8. */
function pathWord({ pathPattern, stripPrefix }: RulePageProps['rule']): string {
  if (!stripPrefix || pathPattern.startsWith('*')) return 'Forwarded unchanged'
  return pathPattern.includes('*')
    ? 'Forwarded without the part before the *'
    : 'Not forwarded: the target itself is called'
}

function facts({ rule, place, project }: RulePageProps): Html {
  const isProxy = rule.proxyType === 'external_proxy'
  return card(
    { id: 'facts', title: 'About this rule' },
    details([
      ['Matches', html`<code>${rule.pathPattern}</code> <span class="muted">${methodText(rule)}</span>`],
      ['Then', deedOf(rule)],
      ['About', rule.description],
      ['Where', placeOf(project.id, place)],
      ['Path', isProxy && pathWord(rule)],
      ['Timeout', isProxy && `${formatCount(rule.timeout)} ms until the response starts`],
      ['Host header', isProxy && (rule.preserveHost ? 'The visitor’s' : 'The server’s own')],
      ['Cookies', isProxy && (rule.forwardCookies ? 'Forwarded, except the session' : 'Not forwarded')],
      ['Headers set', isProxy && rule.headers.length > 0 && headerNames(rule.headers)],
      ['Forwarded', isProxy && rule.forward !== null && (rule.forward.join(', ') || 'No headers')],
      ['Removed', isProxy && rule.strip.length > 0 && rule.strip.join(', ')],
      ['Debugging', rule.debugEnabled && 'Each run keeps the input and output of its steps'],
    ]),
  )
}

function placeOf(projectId: string, place: RulePageProps['place']): Content {
  if (place === null) return 'Every site of the project'
  return place.kind === 'alias'
    ? html`Only on <a href=${aliasHref(projectId, place.id)}>${place.name}</a>`
    : html`In the rule set <a href=${setHref(projectId, place.id)}>${place.name}</a>`
}

const headerNames = (headers: ShownRule['headers']): Html => html`
  ${headers.map(
    ({ name, hasValue }) => html`
      <span><code>${name}</code> ${hasValue ? badge('Secret') : badge('No value yet', 'warn')} </span>
    `,
  )}
`

function runsCard({ project, rule }: RulePageProps, runs: readonly RunView[]): Html {
  const all = html`<a href=${rulesHref(project.id, `/runs?rule=${rule.id}`)}>All runs</a>`
  return card(
    { id: 'runs', title: 'Last runs', aside: runs.length > 0 && all },
    runs.length === 0
      ? html`<p class="muted">It has not run in the last 30 days.</p>`
      : runsTable(project.id, runs),
  )
}

const removal = (props: RulePageProps): Html =>
  card(
    { id: 'removal', title: 'Delete', about: 'Requests that matched it go to the next rule or to a file.' },
    confirmDialog(
      {
        id: 'delete-rule',
        opener: 'Delete this rule',
        openerKind: 'danger',
        title: `Delete ${ruleName(props.rule)}?`,
        text: 'Its header values are lost. To stop it temporarily, disable it instead.',
        confirm: 'Delete the rule',
      },
      html`${hidden('intent', 'delete')} ${unlocked(props)}`,
    ),
  )
