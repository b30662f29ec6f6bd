import type { PreviewView } from '../../src/modules/aliases/previews.ts'
import type { AliasView } from '../../src/modules/aliases/service.ts'
import { badge } from '../components/badge.ts'
import { button } from '../components/button.ts'
import { card } from '../components/card.ts'
import { confirmDialog } from '../components/confirm.ts'
import { formError, hidden } from '../components/field.ts'
import { type Content, type Html, html } from '../components/html.ts'
import { type Column, table } from '../components/table.ts'
import { moment, time } from '../components/time.ts'
import type { ProjectPageBase } from '../frame/project-frame.ts'
import type { Failed } from '../frame/project-request.ts'
import { aliasHref } from './aliases.ts'

type PreviewsProps = ProjectPageBase & {
  /** The soonest end first. */
  previews: readonly PreviewView[]
  /** The form of this card that was refused. */
  refused?: Failed | undefined
}

/** The previews of a project. Sends `intent=extend`, `keep` or `end` with `aliasId`. */
export const previewsCard = (props: PreviewsProps): Html =>
  card(
    {
      id: 'previews',
      title: 'Previews',
      about: 'Aliases with an end: for a pull request, or to show something for a while.',
    },
    html`
      ${formError(props.refused?.error)}
      ${
        props.previews.length === 0
          ? html`<p class="muted">There are none. <code>svc deploy --preview pr-12</code> publishes one, and the upload field <code>preview</code>.</p>`
          : table<PreviewView>({ caption: 'Previews', rows: props.previews, columns: columnsOf(props) })
      }
    `,
  )

const columnsOf = (props: PreviewsProps): Column<PreviewView>[] => [
  {
    label: 'Preview',
    cell: (preview) => html`
      <a href=${aliasHref(preview.projectId, preview.id)}><strong>${preview.name}</strong></a>${' '}
      ${preview.isLocked && badge('Locked', 'warn')}
    `,
  },
  { label: 'Pull request', cell: (preview) => pullRequest(preview) ?? html`<span class="muted">None</span>` },
  { label: 'Ends', cell: endOf },
  { label: 'Published', cell: ({ lastPublishedAt }) => time(lastPublishedAt) },
  { label: 'Actions', hideLabel: true, align: 'end', cell: (preview) => previewActions(props, preview) },
]

/** The number, which leads to its page where that is known; null if there is none. */
export function pullRequest({ pullRequest }: AliasView): Html | null {
  if (pullRequest === null) return null
  const { number, url } = pullRequest
  return url === null ? html`#${number}` : html`<a href=${url} rel="noreferrer">#${number}</a>`
}

/** When a preview ends, in words. */
export const endOf = ({ expiresAt, isLocked }: AliasView): Content =>
  expiresAt === null ? 'Never' : isLocked ? 'Not while it is locked' : moment(expiresAt)

/** What people may do with the end of a preview; each is a form of its own. */
export function previewActions({ project, can }: ProjectPageBase, preview: AliasView): Html {
  const days = project.previewDays === 1 ? '1 day' : `${project.previewDays} days`
  return html`
    <div class="actions">
      ${can.moveAliases && simpleForm(preview, 'extend', 'Extend', `Extend ${preview.name} by ${days}`)}
      ${can.moveAliases && simpleForm(preview, 'keep', 'Keep', `Keep ${preview.name}: it never ends`)}
      ${can.endPreviews && endForm(preview)}
    </div>
  `
}

const simpleForm = ({ id }: AliasView, intent: string, label: string, accessibleName: string): Html => html`
  <form method="post">
    ${hidden('intent', intent)} ${hidden('aliasId', id)}
    ${button({ label, kind: 'secondary', small: true, accessibleName })}
  </form>
`

const endForm = ({ id, name, url }: AliasView): Html =>
  confirmDialog(
    {
      id: `end-${id}`,
      opener: 'End now',
      accessibleName: `End now: ${name}`,
      title: `End ${name}?`,
      text: html`<strong>${url}</strong> stops working. What was published as this preview alone is deleted.`,
      confirm: 'End the preview',
    },
    html`${hidden('intent', 'end')} ${hidden('aliasId', id)}`,
  )
