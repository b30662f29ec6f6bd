import { card } from '../../components/card.ts'
import type { FormError } from '../../components/field.ts'
import { publishPanel } from '../../components/publish-panel.ts'
import { publishGuide, publishSnippets } from '../../components/publish-snippets.ts'
import { type Html, html } from '../../html.ts'
import { type ProjectPageBase, projectFrame } from './project-frame.ts'

export type PublishPageProps = ProjectPageBase & {
  apiUrl: string
  commitSha: string
  failed?: { error: FormError; values: Readonly<Record<string, string>> } | undefined
}

/** Publishing: from this browser, or the commands that do it elsewhere. */
export const publishPage = (props: PublishPageProps): Html =>
  projectFrame(
    props,
    {
      tab: 'publish',
      title: 'Publish',
      about: html`<p class="muted">Puts a folder online as a new deployment.</p>`,
    },
    publishCards(props),
  )

/** The same on the overview of a project that has nothing yet. */
export function publishCards({ user, project, can, apiUrl, commitSha, failed }: PublishPageProps): Html {
  const repository = `${project.owner}/${project.name}`
  const keys =
    user.role === 'admin' ? html`<a href="/keys">Make a key</a>` : 'Admins of the workspace make keys.'
  return html`
    ${
      can.publish &&
      card(
        { id: 'from-here', title: 'From this browser' },
        publishPanel({
          projectId: project.id,
          repository,
          commitSha,
          alias: failed?.values['alias'],
          description: failed?.values['description'],
          basePath: failed?.values['basePath'],
          error: failed?.error,
        }),
      )
    }
    ${card(
      {
        id: 'from-elsewhere',
        title: 'From a terminal or CI',
        about: html`With an API key of this project in <code>SVC_API_KEY</code>. ${keys}`,
      },
      publishGuide(publishSnippets(apiUrl, repository)),
    )}
  `
}
