import type { DomainView } from '../../src/modules/domains/service.ts'
import type { TrafficView } from '../../src/modules/traffic/service.ts'
import { button, linkButton } from '../components/button.ts'
import { card } from '../components/card.ts'
import { confirmDialog } from '../components/confirm.ts'
import { details } from '../components/details.ts'
import { formError, hidden } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { notice } from '../components/notice.ts'
import { roleLabel } from '../components/role.ts'
import { sides } from '../components/sides.ts'
import { day, time } from '../components/time.ts'
import { type ProjectPageBase, projectFrame, projectHref } from '../frame/project-frame.ts'
import type { Failed } from '../frame/project-request.ts'
import { domainHref, shownBy, showsSite, stateBadge } from './domains.ts'
import { aliasField, otherFields, shortened } from './form.ts'
import { proofCard, type WayProps, wayCard } from './proof.ts'

type DomainPageProps = ProjectPageBase & {
  domain: DomainView
  /** The link to its host for this person. */
  visitUrl: string
  split: TrafficView | undefined
  aliasNames: readonly string[]
  baseDomain: string
  adminHost: string
  addresses: WayProps['addresses']
  tls: WayProps['tls']
  failed?: Failed | undefined
}

/**
 * One domain. Sends `intent=settings` with `alias` and what `otherFields` names, `verify`, `trust`, `certificate` or
 * `delete`.
 */
export const domainPage = (props: DomainPageProps): Html =>
  projectFrame(
    props,
    {
      tab: 'domains',
      title: props.domain.hostname,
      crumbs: [{ label: 'Domains', href: projectHref(props.project.id, '/domains') }],
      about: html`<p>${stateBadge({ ...props.domain, split: props.split }, props.aliasNames)}</p>`,
      aside:
        props.domain.verification.verifiedAt !== null &&
        linkButton({ label: 'Visit', href: props.visitUrl, kind: 'secondary' }),
    },
    html`
      ${otherFailure(props)} ${props.domain.verification.verifiedAt === null && proof(props)} ${inOrder(props)}
      ${props.domain.verification.verifiedAt !== null && proof(props)}
      ${props.can.manageDomains && sides(settings(props), removal(props))}
    `,
  )

/** The record to set stands first, where there is one. */
function inOrder(props: DomainPageProps): Html {
  const way = wayCard({ ...props, mayManage: props.can.manageDomains })
  const hasRecord = props.domain.verification.method !== 'base_domain'
  return hasRecord ? sides(way, facts(props)) : sides(facts(props), way)
}

/** The error of a form without fields. */
const otherFailure = ({ failed }: DomainPageProps): Html | false =>
  failed !== undefined &&
  failed.intent !== 'settings' &&
  notice({ tone: 'bad', message: failed.error.message, live: true })

const proof = ({ domain, can, user, baseDomain }: DomainPageProps): Html =>
  proofCard({ domain, baseDomain, mayVerify: can.manageDomains, isGlobalAdmin: user.role === 'admin' })

function facts({ domain, split, aliasNames, can }: DomainPageProps): Html {
  const isMissing = domain.redirectTo === null && !aliasNames.includes(domain.alias)
  const meanwhile = showsSite({ ...domain, split }, aliasNames)
    ? 'Visitors see what the traffic split shows them; without a split they get a 404'
    : 'Visitors get a 404'
  const traffic = domainHref(domain.projectId, domain.id, '/traffic')
  return card(
    {
      id: 'facts',
      title: 'What visitors see',
      aside: linkButton({
        label: can.configureTraffic ? 'Split traffic' : 'Traffic',
        href: traffic,
        kind: 'secondary',
        small: true,
      }),
    },
    html`
      ${
        isMissing &&
        notice({
          tone: 'warn',
          message: `The project no longer has the alias ${domain.alias}. ${meanwhile} until you create it again or choose another below.`,
        })
      }
      ${details([
        ['Address', html`<a href=${domain.url}>${domain.url}</a>`],
        [domain.redirectTo === null ? 'Shows' : 'Redirects', shownBy({ ...domain, split })],
        ['Folder', domain.pathPrefix !== null && html`<code>${domain.pathPrefix}</code>`],
        ['Visibility', visibilityOf(domain)],
        ['Added', day(domain.createdAt)],
        ['Changed', time(domain.updatedAt)],
      ])}
    `,
  )
}

function visibilityOf({ isPublic, requiredRole }: DomainView): string {
  const least = requiredRole === null ? '' : `, ${roleLabel(requiredRole)} or higher`
  if (isPublic === null) return `Same as alias${least}`
  return isPublic ? 'Public' : `Private${least}`
}

function settings(props: DomainPageProps): Html {
  const failed = props.failed?.intent === 'settings' ? props.failed : undefined
  return card(
    {
      id: 'settings',
      title: 'Settings',
      about: 'These settings override those of the alias and the project.',
    },
    html`
      <form method="post" class="stack narrow">
        ${formError(failed && shortened(failed.error))} ${hidden('intent', 'settings')}
        ${aliasField({ ...props, failed })} ${otherFields({ ...props, failed })}
        <div>${button({ label: 'Save' })}</div>
      </form>
    `,
  )
}

const removal = ({ domain }: DomainPageProps): Html =>
  card(
    { id: 'removal', title: 'Delete this domain', about: 'The alias and its deployments are kept.' },
    confirmDialog(
      {
        id: 'delete-domain',
        opener: 'Delete this domain',
        openerKind: 'danger',
        title: `Delete ${domain.hostname}?`,
        text: html`The site is no longer available at <strong>${domain.hostname}</strong>, and its traffic split is lost.${
          domain.verification.method !== 'base_domain' &&
          ' To add the domain again, you must verify it again.'
        }`,
        confirm: 'Delete the domain',
      },
      hidden('intent', 'delete'),
    ),
  )
