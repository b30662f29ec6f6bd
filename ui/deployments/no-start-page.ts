import type { AliasView } from '../../src/modules/aliases/service.ts'
import type { DeploymentView } from '../../src/modules/deployments/service.ts'
import { aliasHref } from '../aliases/aliases.ts'
import { button } from '../components/button.ts'
import { hidden } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { notice } from '../components/notice.ts'
import type { Can } from '../frame/project-request.ts'
import { deploymentLink } from './deployment-table.ts'

/** An alias that points here, and the deployment with a start page that it showed before. */
export type WayBack = { alias: AliasView; deployment: DeploymentView }

/** Says that a deployment has no start page. If it took the place of one that has, offers the way back. */
export const noStartPageNotice = (waysBack: readonly WayBack[], can: Can): Html =>
  waysBack.length === 0
    ? notice({ tone: 'info', message: `${NOTHING_SHOWN} ${ADVICE}` })
    : notice({
        tone: 'warn',
        message: html`
          <div class="stack">
            <p>${NOTHING_SHOWN} ${waysBack.map(whatItShowed)}</p>
            <div class="actions">${waysBack.filter(mayMove(can)).map(rollBack)}</div>
          </div>
        `,
      })

const NOTHING_SHOWN = 'There is no index.html at the top level, so the address itself shows nothing.'
/** Often the parent of the build folder was published by mistake. */
const ADVICE = 'If you did not intend this, publish the folder that contains it.'

const whatItShowed = ({ alias, deployment }: WayBack): Html => html`
  Before, <strong>${alias.name}</strong> showed the site
  of ${deploymentLink(deployment.projectId, deployment)}.${' '}
`

const mayMove =
  (can: Can) =>
  ({ alias }: WayBack): boolean =>
    can.moveAliases && (!alias.isLocked || can.manageAliases)

/** The form of the page that moves the alias. Its question is left out, because nobody sees a site now. */
const rollBack = ({ alias, deployment }: WayBack): Html => html`
  <form method="post" action=${aliasHref(alias.projectId, alias.id, '/move')}>
    ${hidden('intent', 'move')} ${hidden('deploymentId', deployment.id)}
    ${button({ label: `Roll ${alias.name} back to #${deployment.number}` })}
  </form>
`
