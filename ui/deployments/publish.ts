import { card } from '../components/card.ts'
import type { FormError } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { type ProjectPageBase, projectFrame } from '../frame/project-frame.ts'
import { publishPanel, type Shown } from './publish-panel.ts'
import { publishGuide, publishSnippets } from './publish-snippets.ts'
import { type PublishedProps, published } from './published.ts'

export type PublishPageProps = ProjectPageBase & {
  apiUrl: string
  commitSha: string
  maxFiles: number
  shows: Readonly<Record<string, Shown>>
  /** What was just published. */
  published?: PublishedProps | undefined
  failed?: { error: FormError; values: Readonly<Record<string, string>> } | undefined
}

/** Publishing from this browser, or with commands elsewhere. */
export const publishPage = (props: PublishPageProps): Html =>
  projectFrame(
    props,
    {
      tab: 'publish',
      title: 'Publish',
      about: html`<p class="muted">Publish a folder as a new deployment.</p>`,
    },
    html`${props.published !== undefined && published(props.published)} ${publishCards(props)}`,
  )

/** Also shown on the overview of a project without deployments. */
export function publishCards({
  user,
  project,
  can,
  apiUrl,
  commitSha,
  maxFiles,
  shows,
  failed,
}: PublishPageProps): Html {
  const repository = `${project.owner}/${project.name}`
  const keys =
    user.role === 'admin' ? html`<a href="/keys">Create a key</a>` : 'Workspace admins create keys.'
  return html`
    ${
      can.publish &&
      publishPanel({
        target: { kind: 'project', id: project.id, repository, shows },
        commitSha,
        maxFiles,
        values: failed?.values,
        error: failed?.error,
      })
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
