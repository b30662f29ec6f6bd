import { deploymentName } from '../../src/domain/deployment-name.ts'
import type { Held } from '../../src/modules/deployments/publish/held.ts'
import type { RoutingView } from '../../src/modules/deployments/routing/view.ts'
import type { DeploymentView } from '../../src/modules/deployments/service.ts'
import { linkButton } from '../components/button.ts'
import { type Html, html } from '../components/html.ts'
import { deploymentHref } from './deployment-table.ts'

export type PublishedProps = {
  projectId: string
  deployment: DeploymentView
  /** Where it can be seen: the address of its alias, else its own. */
  url: string
  /** The same for this person, through sign-in where it is private. */
  visitUrl: string
  /** A folder around everything was taken away. */
  isUnwrapped: boolean
  /** Its release waits for somebody. */
  held: Held | null
  problems: RoutingView['problems']
}

/** The end of a publish: the address, and what did not go as wanted. contract 17.3. */
export const published = (props: PublishedProps): Html => {
  const { projectId, deployment, url, visitUrl, isUnwrapped, held, problems } = props
  const page = deploymentHref(projectId, deployment.number)
  return html`
    <section class="card" aria-labelledby="published">
      <h2 id="published" tabindex="-1" autofocus data-focus>Published</h2>
      <p class="address"><a href=${visitUrl}>${url}</a></p>
      <p class="muted"><a href=${page}>${deploymentName(deployment)}</a></p>
      ${isUnwrapped && html`<p>Everything was in one folder, which was taken away: its content is at the top.</p>`}
      ${held !== null && html`<p>${waits(held)} <a href=${page}>See what to do.</a></p>`}
      ${problems.length > 0 && refusedLines(problems)}
      <div class="actions">
        ${linkButton({ label: 'Open the site', href: visitUrl })}
        <button type="button" class="btn btn-secondary" data-copy=${url} hidden>Copy address</button>
      </div>
    </section>
  `
}

const waits = ({ alias, question }: Held): string =>
  question === undefined
    ? `The alias ${alias} does not show it: its checks held it back.`
    : `The alias ${alias} does not show it yet: it is unclear which folder is the site.`

const refusedLines = (problems: RoutingView['problems']): Html => html`
  <p>These lines do nothing:</p>
  <ul class="stack">
    ${problems.map(({ file, line, message }) => html`<li><code>${file}:${line}</code> ${message}</li>`)}
  </ul>
`
