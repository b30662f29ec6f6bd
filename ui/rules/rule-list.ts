import type { RuleView } from '../../src/modules/proxy-rules/service.ts'
import { badge } from '../components/badge.ts'
import { hidden } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { type IconName, icon } from '../components/icon.ts'
import { deedOf, disabledBadge, KIND_WORDS, methodText, ruleHref, ruleName } from './rule-words.ts'

type RuleListProps = {
  /** The accessible name of the list: "Rules of production". */
  label: string
  rules: readonly RuleView[]
}

/** Rules in the order they are tried, which cannot be changed here. */
export const ruleList = ({ label, rules }: RuleListProps): Html => html`
  <ol class="proxy-rules" aria-label=${label}>${rules.map((rule) => html`<li>${about(rule)}</li>`)}</ol>
`

/**
 * The same list, reorderable. Sends `intent=reorder` with `aliasId` (empty for the project) and `move`: `up ID` or
 * `down ID`. The script sends `order` instead: all ids, separated by commas.
 */
export const orderedRuleList = ({ label, rules, aliasId }: RuleListProps & { aliasId: string }): Html => html`
  <form method="post" data-order>
    ${hidden('intent', 'reorder')} ${hidden('aliasId', aliasId)}
    <ol class="proxy-rules" aria-label=${label}>
      ${rules.map(
        (rule, at) => html`
          <li data-id=${rule.id} data-name=${ruleName(rule)}>
            ${about(rule)}
            <div class="moves">
              ${moveButton('up', rule.id, ruleName(rule), at === 0)}
              ${moveButton('down', rule.id, ruleName(rule), at === rules.length - 1)}
            </div>
          </li>
        `,
      )}
    </ol>
    <p class="notice notice-bad" role="alert" data-refused hidden></p>
    <p class="visually-hidden" role="status" data-said></p>
  </form>
`

/** Sends `move` with `up ID` or `down ID`. */
export const moveButton = (
  way: IconName & ('up' | 'down'),
  id: string,
  name: string,
  isLast: boolean,
): Html => html`
  <button
    type="submit"
    class="btn btn-quiet btn-small"
    name="move"
    value=${`${way} ${id}`}
    disabled=${isLast}
    aria-label=${`Move ${way}: ${name}`}
    title=${`Move ${way}`}
  >${icon(way)}</button>
`

const about = (rule: RuleView): Html => html`
  <div class="about">
    <p class="facts">
      <a href=${ruleHref(rule.projectId, rule.id)}><code>${rule.pathPattern}</code></a>
      <span class="muted small">${methodText(rule)}</span>
      ${badge(KIND_WORDS[rule.proxyType], 'info')} ${disabledBadge(rule)}
    </p>
    <p class="muted small">${rule.description ?? deedOf(rule)}</p>
  </div>
`
