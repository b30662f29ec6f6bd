import { DAY_SECONDS } from '../../src/domain/durations.ts'
import type { DomainView } from '../../src/modules/domains/service.ts'
import { badge } from '../components/badge.ts'
import { button } from '../components/button.ts'
import { card } from '../components/card.ts'
import { confirmDialog } from '../components/confirm.ts'
import { checkbox, formError, hidden, selectField } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { notice } from '../components/notice.ts'
import { projectFrame, projectHref } from '../frame/project-frame.ts'
import { domainHref } from './domains.ts'
import type { TrafficPageProps } from './traffic-props.ts'
import { rulesCard } from './traffic-rules.ts'
import { weightFields, weightRows } from './traffic-weights.ts'

/**
 * How a domain splits its traffic. Sends `intent=weights` (traffic-weights.ts), `stop`, and the intents of its rules
 * (traffic-rules.ts).
 */
export const trafficPage = (props: TrafficPageProps): Html =>
  projectFrame(
    props,
    {
      tab: 'domains',
      title: 'Traffic',
      crumbs: [
        { label: 'Domains', href: projectHref(props.project.id, '/domains') },
        { label: props.domain.hostname, href: domainHref(props.project.id, props.domain.id) },
      ],
      about: html`<p class="muted"><strong>${props.domain.hostname}</strong>: the first matching rule decides, then the alias a visitor saw before, then the shares.</p>`,
    },
    html`
      ${otherFailure(props)}
      ${props.domain.redirectTo !== null && redirected(props.domain)}
      ${props.can.configureTraffic ? sharesForm(props) : shares(props)} ${rulesCard(props)}
      ${props.can.configureTraffic && props.split !== undefined && stopping(props.domain)}
    `,
  )

/** The error of a form without fields. The other forms show their own errors. */
const otherFailure = ({ failed }: TrafficPageProps): Html | false =>
  failed !== undefined &&
  !['weights', 'add-rule', 'change-rule'].includes(failed.intent) &&
  notice({ tone: 'bad', message: failed.error.message, live: true })

const redirected = ({ redirectTo }: DomainView): Html =>
  notice({
    tone: 'warn',
    message: `This domain redirects everybody to ${redirectTo}, so these settings have no effect.`,
  })

const ABOUT = 'How many of 100 new visitors see each alias.'

function shares(props: TrafficPageProps): Html {
  return card(
    { id: 'shares', title: 'Shares', about: ABOUT, aside: stateOf(props) },
    html`
      <ul class="stack">
        ${weightRows(props).map(
          ({ alias, weight }) => html`
            <li class="progress">
              <label for=${`share-${alias}`}>${alias}</label><span>${weight} %</span>
              <progress id=${`share-${alias}`} value=${weight} max="100"></progress>
            </li>
          `,
        )}
      </ul>
    `,
  )
}

const stateOf = ({ split, domain }: TrafficPageProps): Html =>
  split === undefined ? badge(`All see ${domain.alias}`) : badge('Split', 'info')

function sharesForm(props: TrafficPageProps): Html {
  const { split } = props
  const failed = props.failed?.intent === 'weights' ? props.failed : undefined
  const values = failed?.values
  return card(
    { id: 'shares', title: 'Shares', about: ABOUT, aside: stateOf(props) },
    html`
      <form method="post" class="stack" data-weights>
        ${formError(failed?.error)} ${hidden('intent', 'weights')} ${weightFields(props, failed)}
        ${checkbox({
          name: 'sticky',
          label: 'Returning visitors see the same alias',
          hint: 'Uses a cookie. If the share of an alias becomes 0, its visitors are assigned again.',
          checked: values === undefined ? (split?.sticky ?? true) : values['sticky'] === 'true',
        })}
        <div class="narrow">${periodField(values?.['stickySeconds'] ?? String(split?.stickySeconds ?? DAY_SECONDS))}</div>
        <div>${button({ label: 'Save', accessibleName: 'Save the shares' })}</div>
      </form>
    `,
  )
}

const PERIODS: readonly [seconds: number, label: string][] = [
  [3600, 'An hour'],
  [DAY_SECONDS, 'A day'],
  [7 * DAY_SECONDS, 'A week'],
  [30 * DAY_SECONDS, '30 days'],
  [365 * DAY_SECONDS, 'A year'],
]

function periodField(value: string): Html {
  const options = PERIODS.map(([seconds, label]) => ({ value: String(seconds), label }))
  const isOther = !options.some((option) => option.value === value)
  return selectField({
    name: 'stickySeconds',
    label: 'For how long',
    value,
    options: [...options, ...(isOther ? [{ value, label: `${value} seconds` }] : [])],
  })
}

const stopping = ({ alias, hostname }: DomainView): Html =>
  card(
    { id: 'stop', title: 'Stop splitting', about: `All visitors see ${alias} again.` },
    confirmDialog(
      {
        id: 'stop-dividing',
        opener: 'Stop splitting',
        openerKind: 'danger',
        title: `Show ${alias} to all visitors?`,
        text: html`The shares and the rules of <strong>${hostname}</strong> are deleted.`,
        confirm: 'Delete the shares and rules',
      },
      hidden('intent', 'stop'),
    ),
  )
