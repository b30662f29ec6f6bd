import type { AliasView } from '../../src/modules/aliases/service.ts'
import type { Differing } from '../../src/modules/compare/service.ts'
import type { DeploymentView } from '../../src/modules/deployments/service.ts'
import { button, linkButton } from '../components/button.ts'
import { card } from '../components/card.ts'
import { details } from '../components/details.ts'
import { formError, hidden } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { commit } from '../components/sha.ts'
import { time } from '../components/time.ts'
import { comparisonList, comparisonSummary } from '../deployments/comparison.ts'
import { deploymentLink } from '../deployments/deployment-table.ts'
import { type ProjectPageBase, projectFrame, projectHref } from '../frame/project-frame.ts'
import type { Failed } from '../frame/project-request.ts'
import { aliasHref } from './aliases.ts'

type MoveAliasPageProps = ProjectPageBase & {
  alias: AliasView
  from: DeploymentView
  to: DeploymentView
  comparison: Differing
  /** To an earlier deployment that the alias showed before. */
  isBack: boolean
  failed?: Failed | undefined
}

/**
 * Asks for confirmation before a release or rollback and shows what changes. Sends `intent=move` or `intent=rollback` with `deploymentId`.
 */
export function movePage(props: MoveAliasPageProps): Html {
  const { alias, from, to, comparison, isBack } = props
  const verb = isBack ? 'Roll back' : 'Move'
  return projectFrame(
    props,
    {
      tab: 'aliases',
      title: isBack ? `Roll ${alias.name} back?` : `Move ${alias.name}?`,
      crumbs: [
        { label: 'Aliases', href: projectHref(props.project.id, '/aliases') },
        { label: alias.name, href: aliasHref(props.project.id, alias.id) },
      ],
      about: html`<p class="muted">Visitors to <a href=${alias.url}>${alias.url}</a> see the new deployment as soon as you confirm.</p>`,
    },
    html`
      ${card(
        { id: 'ways', title: 'What visitors get' },
        details([
          ['Now', deploymentFacts(from)],
          ['After', deploymentFacts(to)],
        ]),
      )}
      ${card(
        { id: 'differences', title: comparisonSummary(comparison.counts) },
        comparisonList(comparison, {
          projectId: props.project.id,
          from: String(from.number),
          to: String(to.number),
        }),
      )}
      <form method="post" class="stack">
        ${formError(props.failed?.error)} ${hidden('intent', isBack ? 'rollback' : 'move')} ${hidden('deploymentId', to.id)}
        <div class="actions">
          ${button({ label: `${verb} ${alias.name} to #${to.number}` })}
          ${linkButton({ label: 'Cancel', href: aliasHref(props.project.id, alias.id), kind: 'secondary' })}
        </div>
      </form>
    `,
  )
}

const deploymentFacts = (deployment: DeploymentView): Html => html`
  <span class="facts">
    ${deploymentLink(deployment.projectId, deployment)} ${commit(deployment.commitSha)} ${time(deployment.createdAt)}
  </span>
`
