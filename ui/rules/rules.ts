import type { RuleView } from '../../src/modules/proxy-rules/service.ts'
import type { RuleSetView } from '../../src/modules/rule-sets/service.ts'
import { aliasHref } from '../aliases/aliases.ts'
import { badge } from '../components/badge.ts'
import { button, linkButton } from '../components/button.ts'
import { card } from '../components/card.ts'
import { formError, hidden, selectField } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { pagination } from '../components/pagination.ts'
import { searchForm } from '../components/search-form.ts'
import { type ProjectPageBase, projectFrame } from '../frame/project-frame.ts'
import type { Failed } from '../frame/project-request.ts'
import { moveButton, orderedRuleList, ruleList } from './rule-list.ts'
import { provenance, rulesHref, setHref } from './rule-words.ts'
import { noRules } from './rules-empty.ts'

type SetWithRules = RuleSetView & { rules: readonly RuleView[] }

/** Rules created in the admin, then the live rule sets: the order they are tried. */
export type RulesOfLevel = {
  /** Null for all sites of the project. */
  alias: { id: string; name: string } | null
  own: readonly RuleView[]
  sets: readonly SetWithRules[]
  /** For an alias: the sets that are not attached to it yet. */
  others: readonly RuleSetView[]
}

type RulesPageProps = ProjectPageBase & {
  /** The aliases with their own rules, or the chosen one. */
  aliases: readonly RulesOfLevel[]
  everywhere: RulesOfLevel
  /** Sets that are not live anywhere. */
  idle: readonly RuleSetView[]
  aliasNames: readonly string[]
  /** The chosen alias; empty for all. */
  chosen: string
  page: number
  pages: number
  /** Aliases with their own rules. */
  total: number
  apiUrl: string
  failed?: Failed | undefined
}

/**
 * The rules, which answer before files do. Sends `intent=reorder` (see `orderedRuleList`), or for the sets of an alias
 * `intent=sets` with `aliasId` and one of `move`, `detach` and `attach`.
 */
export const rulesPage = (props: RulesPageProps): Html =>
  projectFrame(
    props,
    {
      tab: 'rules',
      title: 'Rules',
      about: html`
        <p class="muted">
          For each request, the rules of the alias are tried first, then those of the project, from the top. The first
          that matches answers; without one, the file does.
        </p>
      `,
      aside: links(props),
    },
    html`
      ${props.failed !== undefined && props.failed.intent !== 'sets' && formError(props.failed.error)}
      ${isEmpty(props) ? noRules(props) : levels(props)}
    `,
  )

const isEmpty = ({ aliases, everywhere, idle, chosen }: RulesPageProps): boolean =>
  chosen === '' && aliases.length + everywhere.own.length + everywhere.sets.length + idle.length === 0

const links = (props: RulesPageProps): Html => html`
  <div class="actions">
    ${props.can.configureTraffic && linkButton({ label: 'New rule', href: rulesHref(props.project.id, '/new') })}
    ${
      !isEmpty(props) &&
      html`
        ${linkButton({ label: 'Test a rule', href: rulesHref(props.project.id, '/test'), kind: 'secondary' })}
        ${linkButton({ label: 'Run log', href: rulesHref(props.project.id, '/runs'), kind: 'secondary' })}
      `
    }
  </div>
`

const levels = (props: RulesPageProps): Html => html`
  ${props.aliasNames.length > 0 && chooser(props)} ${props.aliases.map((level) => ofAlias(props, level))}
  ${pagination({
    page: props.page,
    pages: props.pages,
    total: props.total,
    hrefOf: (to) => rulesHref(props.project.id, `?page=${to}`),
  })}
  ${ofProject(props)} ${props.idle.length > 0 && idleSets(props)}
`

const chooser = ({ project, aliasNames, chosen }: RulesPageProps): Html =>
  searchForm(
    'Rules of an alias',
    selectField({
      name: 'alias',
      label: 'Show rules for',
      value: chosen,
      options: [
        { value: '', label: 'All aliases with their own rules' },
        ...aliasNames.map((name) => ({ value: name, label: name })),
      ],
    }),
    chosen === '' ? undefined : rulesHref(project.id),
    'Show',
  )

const listOf = (props: RulesPageProps, { alias, own }: RulesOfLevel): Html => {
  const label = alias === null ? 'Rules of the project' : `Rules of ${alias.name}`
  if (own.length === 0)
    return html`<p class="muted">No rules were created here${alias === null ? '' : ' for this alias'}.</p>`
  return props.can.configureTraffic && own.length > 1
    ? orderedRuleList({ label, rules: own, aliasId: alias?.id ?? '' })
    : ruleList({ label, rules: own })
}

function ofAlias(props: RulesPageProps, level: RulesOfLevel): Html | null {
  const { alias, sets } = level
  if (alias === null) return null
  const { id, name } = alias
  const mayChange = props.can.configureTraffic
  return card(
    {
      id: `alias-${id}`,
      title: `Only on ${name}`,
      about: html`Tried first, on <a href=${aliasHref(props.project.id, id)}>${name}</a> only.`,
      aside:
        mayChange &&
        linkButton({
          label: html`New rule<span class="visually-hidden"> on ${name}</span>`,
          href: rulesHref(props.project.id, `/new?alias=${id}`),
          kind: 'secondary',
          small: true,
        }),
    },
    html`
      ${props.failed?.values['aliasId'] === id && props.failed.intent === 'sets' && formError(props.failed.error)}
      ${listOf(props, level)}
      ${sets.map((set, at) =>
        setBlock(
          props,
          set,
          mayChange && attachedControls(id, set, { isFirst: at === 0, isLast: at === sets.length - 1 }),
        ),
      )}
      ${mayChange && level.others.length > 0 && attachForm(level, id)}
    `,
  )
}

const ofProject = (props: RulesPageProps): Html =>
  card(
    {
      id: 'project-rules',
      title: 'On every site',
      about: 'Tried after the alias’s own rules, on every alias and deployment of the project.',
    },
    html`${listOf(props, props.everywhere)} ${props.everywhere.sets.map((set) => setBlock(props, set, false))}`,
  )

const setBlock = (props: RulesPageProps, set: SetWithRules, controls: Html | false): Html => html`
  <section class="stack" aria-label=${`Rule set ${set.name}`}>
    <div class="card-head">
      <div>
        <h3>Rule set <a href=${setHref(props.project.id, set.id)}>${set.name}</a></h3>
        ${set.source !== null && provenance(set.source)}
      </div>
      ${controls}
    </div>
    ${
      set.rules.length === 0
        ? html`<p class="muted">This set has no rules.</p>`
        : ruleList({ label: `Rules of the set ${set.name}`, rules: set.rules })
    }
  </section>
`

type Place = { isFirst: boolean; isLast: boolean }

const attachedControls = (aliasId: string, set: RuleSetView, { isFirst, isLast }: Place): Html => html`
  <form method="post" class="moves">
    ${hidden('intent', 'sets')} ${hidden('aliasId', aliasId)}
    ${
      !(isFirst && isLast) &&
      html`${moveButton('up', set.id, set.name, isFirst)} ${moveButton('down', set.id, set.name, isLast)}`
    }
    ${button({
      label: 'Detach',
      kind: 'secondary',
      small: true,
      name: 'detach',
      value: set.id,
      accessibleName: `Detach ${set.name}`,
    })}
  </form>
`

const attachForm = ({ others }: RulesOfLevel, aliasId: string): Html => html`
  <form method="post" class="inline-form">
    ${hidden('intent', 'sets')} ${hidden('aliasId', aliasId)}
    ${selectField({
      name: 'attach',
      id: `attach-${aliasId}`,
      label: 'Attach a rule set',
      hint: 'A set that is live on every site is then live only on the aliases it is attached to.',
      options: others.map(({ id, name, liveOn }) => ({
        value: id,
        label: liveOn === 'project' ? `${name}: now on every site` : name,
      })),
    })}
    ${button({ label: 'Attach', kind: 'secondary' })}
  </form>
`

const idleSets = ({ project, idle }: RulesPageProps): Html =>
  card(
    {
      id: 'idle-sets',
      title: 'Not live',
      about:
        'These sets do nothing until they are attached to an alias. Choose an alias above and attach them there.',
    },
    html`
      <ul class="stack">
        ${idle.map(
          (set) => html`
            <li>
              <p class="facts">
                <a href=${setHref(project.id, set.id)}><strong>${set.name}</strong></a>
                ${set.isPreview && badge('Preview')}
                <span class="muted">${set.ruleCount === 1 ? '1 rule' : `${set.ruleCount} rules`}</span>
              </p>
              ${set.source !== null && provenance(set.source)}
            </li>
          `,
        )}
      </ul>
    `,
  )
