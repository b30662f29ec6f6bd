import type { TrafficView } from '../../src/modules/traffic/service.ts'
import { badge } from '../components/badge.ts'
import { button } from '../components/button.ts'
import { card } from '../components/card.ts'
import { confirmDialog } from '../components/confirm.ts'
import { field, fieldError, formError, hidden, selectField } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import type { Failed } from '../frame/project-request.ts'
import { shortened } from './form.ts'
import type { TrafficPageProps } from './traffic-props.ts'

type Rule = TrafficView['rules'][number]

/**
 * Rules that send visitors to an alias, in the order they are tried. Sends `intent=add-rule` with `type`, `key`,
 * `value`, `alias`; `change-rule` with those, `at` and `was`; `rule-up`, `rule-down` and `delete-rule` with `at` and
 * `was`.
 */
export function rulesCard(props: TrafficPageProps): Html {
  const rules = props.split?.rules ?? []
  return card(
    {
      id: 'rules',
      title: 'Rules',
      about:
        'For testers and colleagues: visitors who match a rule see its alias, regardless of the shares. The first match wins.',
    },
    html`
      ${
        rules.length === 0
          ? html`<p class="muted">No rules yet.</p>`
          : html`<ol class="traffic-rules">${rules.map((rule, at) => ruleItem(props, rule, at, rules.length))}</ol>`
      }
      ${props.can.configureTraffic && newRule(props)}
    `,
  )
}

const ruleItem = (props: TrafficPageProps, rule: Rule, at: number, count: number): Html => html`
  <li>
    <div class="facts">
      <span>${KINDS[rule.type]} ${condition(rule)} → <strong>${rule.alias}</strong></span>
      ${!props.aliasNames.includes(rule.alias) && badge('Alias is missing', 'bad')}
    </div>
    ${props.can.configureTraffic && ruleActions(rule, at, count)}
    ${props.can.configureTraffic && changing(props, rule, at)}
  </li>
`

const KINDS = { query: 'Address with', cookie: 'Cookie', header: 'Header' } as const

const condition = ({ type, key, value }: Rule): Html =>
  html`<code>${type === 'query' ? '?' : ''}${key}${type === 'header' ? ': ' : '='}${value}</code>`

const nameOf = ({ key, value }: Rule): string => `${key}=${value}`

/** Which rule, and its values when the page was rendered. */
const target = (rule: Rule, at: number): Html => html`
  ${hidden('at', String(at))} ${hidden('was', JSON.stringify(rule))}
`

const ruleActions = (rule: Rule, at: number, count: number): Html => html`
  <div class="actions">
    <form method="post" class="actions">
      ${target(rule, at)}
      ${ruleButton('rule-up', 'Up', rule, at === 0)} ${ruleButton('rule-down', 'Down', rule, at === count - 1)}
    </form>
    ${confirmDialog(
      {
        id: `delete-rule-${at}`,
        opener: 'Delete',
        accessibleName: `Delete: ${nameOf(rule)}`,
        title: `Delete the rule ${nameOf(rule)}?`,
        text: 'Visitors who match it follow the next rule or the shares.',
        confirm: 'Delete the rule',
      },
      html`${hidden('intent', 'delete-rule')} ${target(rule, at)}`,
    )}
  </div>
`

const ruleButton = (intent: string, label: string, rule: Rule, disabled: boolean): Html =>
  button({
    label,
    kind: 'secondary',
    small: true,
    name: 'intent',
    value: intent,
    disabled,
    accessibleName: `${label}: ${nameOf(rule)}`,
  })

function changing(props: TrafficPageProps, rule: Rule, at: number): Html {
  const { failed } = props
  const isThis = failed?.intent === 'change-rule' && failed.values['at'] === String(at)
  return html`
    <details class="more" open=${isThis}>
      <summary>Change<span class="visually-hidden"> ${nameOf(rule)}</span></summary>
      <form method="post" class="stack">
        ${isThis && formError(shortened(failed.error))} ${hidden('intent', 'change-rule')} ${target(rule, at)}
        ${ruleFields(props, `rule-${at}-`, isThis ? failed : undefined, rule)}
        <div>${button({ label: 'Save', accessibleName: `Save: ${nameOf(rule)}` })}</div>
      </form>
    </details>
  `
}

function newRule(props: TrafficPageProps): Html {
  const failed = props.failed?.intent === 'add-rule' ? props.failed : undefined
  return html`
    <form method="post" class="stack">
      <h3>New rule</h3>
      ${formError(failed && shortened(failed.error))} ${hidden('intent', 'add-rule')} ${ruleFields(props, '', failed)}
      <div>${button({ label: 'Add rule', kind: 'secondary' })}</div>
    </form>
  `
}

function ruleFields(
  { aliasNames }: TrafficPageProps,
  prefix: string,
  failed: Failed | undefined,
  rule?: Rule,
): Html {
  const given = (name: keyof Rule) => failed?.values[name] ?? rule?.[name]
  const errorOf = (name: keyof Rule) => fieldError(failed?.error, name)
  const alias = given('alias')
  const names = alias === undefined || aliasNames.includes(alias) ? aliasNames : [alias, ...aliasNames]
  return html`
    <div class="columns">
      ${selectField({
        name: 'type',
        id: `${prefix}type`,
        label: 'Visitors with',
        value: given('type'),
        options: [
          { value: 'query', label: 'a query parameter' },
          { value: 'cookie', label: 'a cookie' },
          { value: 'header', label: 'a header' },
        ],
        error: errorOf('type'),
      })}
      ${field({
        name: 'key',
        id: `${prefix}key`,
        label: 'Name',
        placeholder: 'preview',
        value: given('key'),
        error: errorOf('key'),
        verbatim: true,
      })}
      ${field({
        name: 'value',
        id: `${prefix}value`,
        label: 'Value',
        placeholder: 'yes',
        value: given('value'),
        error: errorOf('value'),
        required: false,
        isPlain: true,
        verbatim: true,
      })}
      ${selectField({
        name: 'alias',
        id: `${prefix}alias`,
        label: 'See',
        value: alias,
        options: names.map((name) => ({ value: name, label: name })),
        error: errorOf('alias'),
      })}
    </div>
  `
}
