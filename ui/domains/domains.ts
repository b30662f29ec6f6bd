import type { Paginated } from '../../src/domain/pagination.ts'
import type { DomainView } from '../../src/modules/domains/service.ts'
import type { TrafficView } from '../../src/modules/traffic/service.ts'
import { badge, visibilityBadge } from '../components/badge.ts'
import { button, linkButton } from '../components/button.ts'
import { card } from '../components/card.ts'
import { emptyState } from '../components/empty-state.ts'
import { field, fieldError, formError, hidden } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { pagination } from '../components/pagination.ts'
import { type Column, table } from '../components/table.ts'
import { time } from '../components/time.ts'
import { type ProjectPageBase, projectFrame, projectHref } from '../frame/project-frame.ts'
import type { Failed } from '../frame/project-request.ts'
import { aliasField, otherFields, shortened } from './form.ts'

type DomainListRow = DomainView & { split: TrafficView | undefined }

type DomainsPageProps = ProjectPageBase & {
  found: Paginated<DomainListRow>
  aliasNames: readonly string[]
  baseDomain: string
  failed?: Failed | undefined
}

export const domainHref = (projectId: string, domainId: string, rest = ''): string =>
  projectHref(projectId, `/domains/${domainId}${rest}`)

/** The hosts of the project. Sends `intent=create` with `hostname`, `alias` and what `otherFields` names. */
export const domainsPage = (props: DomainsPageProps): Html =>
  projectFrame(
    props,
    {
      tab: 'domains',
      title: 'Domains',
      about: html`<p class="muted">Your own hosts, in addition to the address of each alias.</p>`,
      aside: mayAdd(props) && linkButton({ label: 'Add a domain', href: '#new-domain' }),
    },
    html`
      ${props.found.pagination.total === 0 ? nothing(props) : list(props)}
      ${mayAdd(props) && newDomain(props)}
    `,
  )

/** A domain shows an alias. */
const mayAdd = ({ can, aliasNames }: DomainsPageProps): boolean => can.manageDomains && aliasNames.length > 0

const list = ({ project, found, aliasNames }: DomainsPageProps): Html => html`
  ${table<DomainListRow>({ caption: 'Domains', rows: found.data, columns: columnsOf(aliasNames) })}
  ${pagination({ ...found.pagination, hrefOf: (to) => projectHref(project.id, `/domains?page=${to}`) })}
`

const nothing = ({ project, can, aliasNames }: DomainsPageProps): Html =>
  aliasNames.length > 0
    ? emptyState({
        icon: 'projects',
        title: 'No domains yet',
        text: 'A domain shows what an alias points at under your own name, such as www.example.com.',
      })
    : emptyState(
        {
          icon: 'projects',
          title: 'No domains yet',
          text: 'A domain shows what an alias points at, so publish something to an alias first.',
        },
        can.publish && linkButton({ label: 'Publish', href: projectHref(project.id, '/publish') }),
      )

function newDomain(props: DomainsPageProps): Html {
  const { failed, baseDomain } = props
  const isInMore = failed?.error.details?.some(({ path }) => !['hostname', 'alias'].includes(path)) === true
  return card(
    {
      id: 'new-domain',
      title: 'Add a domain',
      about: html`A name below <strong>${baseDomain}</strong> works immediately. You verify any other name on the next page before it serves.`,
    },
    html`
      <form method="post" class="stack narrow">
        ${formError(failed && shortened(failed.error))} ${hidden('intent', 'create')}
        ${field({
          name: 'hostname',
          label: 'Host',
          hint: 'Without https:// and without a path.',
          placeholder: 'www.example.com',
          value: failed?.values['hostname'],
          error: fieldError(failed?.error, 'hostname'),
          verbatim: true,
        })}
        ${aliasField(props)}
        <details class="more" open=${isInMore}>
          <summary>Folder, redirect, visibility</summary>
          <div class="stack">${otherFields(props)}</div>
        </details>
        <div>${button({ label: 'Add domain' })}</div>
      </form>
    `,
  )
}

/** What keeps the domain from serving, or that it serves. */
export function stateBadge(domain: DomainListRow, aliasNames: readonly string[]): Html {
  if (domain.verification.verifiedAt === null) return badge('Not verified yet', 'warn')
  if (['failed', 'expired'].includes(domain.certificate.status)) return badge('No certificate', 'bad')
  if (domain.redirectTo !== null) return badge('Redirects', 'info')
  return showsSite(domain, aliasNames) ? badge('Serves', 'good') : badge('Alias is missing', 'bad')
}

/** True if its own alias exists, or any alias that the traffic split sends visitors to. */
export function showsSite({ alias, split }: DomainListRow, aliasNames: readonly string[]): boolean {
  const drawn = split?.weights.filter(({ weight }) => weight > 0) ?? []
  return [alias, ...drawn.map((share) => share.alias)].some((name) => aliasNames.includes(name))
}

/** A short text: who sees what. */
export function shownBy({ redirectTo, alias, pathPrefix, split }: DomainListRow): Html {
  if (redirectTo !== null) return html`<span><span class="muted">to</span> ${redirectTo}</span>`
  if (split === undefined) return html`<span>${alias}${pathPrefix && html`<code>${pathPrefix}</code>`}</span>`
  const shares = split.weights.filter(({ weight }) => weight > 0)
  return html`<span>${shares.map(({ alias: name, weight }) => `${weight}\u00a0%\u00a0${name}`).join(', ')}</span>`
}

const columnsOf = (aliasNames: readonly string[]): Column<DomainListRow>[] => [
  {
    label: 'Domain',
    cell: (domain) => html`
      <a href=${domainHref(domain.projectId, domain.id)}><strong>${domain.hostname}</strong></a>
    `,
  },
  { label: 'State', cell: (domain) => stateBadge(domain, aliasNames) },
  { label: 'Shows', cell: shownBy },
  {
    label: 'Visibility',
    cell: ({ isPublic }) => (isPublic === null ? 'Same as alias' : visibilityBadge(isPublic)),
  },
  { label: 'Changed', align: 'end', cell: ({ updatedAt }) => time(updatedAt) },
]
