import { downloadName } from '../../src/modules/files/keys.ts'
import { contentHref, type FileDetail } from '../../src/modules/files/look.ts'
import { linkButton } from '../components/button.ts'
import { card } from '../components/card.ts'
import { confirmDialog } from '../components/confirm.ts'
import { copyable } from '../components/copyable.ts'
import { details } from '../components/details.ts'
import { formError, hidden } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { formatSize } from '../components/size.ts'
import { time } from '../components/time.ts'
import { schemaHref } from '../data/data.ts'
import { type ProjectPageBase, projectFrame } from '../frame/project-frame.ts'
import type { Failed } from '../frame/project-request.ts'
import { pathLinks } from './files.ts'

export type FilePageProps = ProjectPageBase & { detail: FileDetail; failed?: Failed | undefined }

/** One file: what it is, how it looks, the record that names it. Sends `intent=delete`. */
export const storedFilePage = (props: FilePageProps): Html =>
  projectFrame(
    props,
    {
      tab: 'files',
      title: downloadName(props.detail.file.path),
      about: pathLinks(props, props.detail.file.path),
    },
    html`
      ${facts(props)} ${card({ id: 'content', title: 'Content' }, content(props))}
      ${props.can.configureTraffic && removal(props)}
    `,
  )

const facts = ({ project, detail: { file, type, record } }: FilePageProps): Html =>
  card(
    {
      id: 'facts',
      title: 'About the file',
      aside: linkButton({
        label: 'Download',
        href: contentHref(project.id, file.id),
        kind: 'secondary',
        small: true,
      }),
    },
    html`
      ${details([
        ['Type', type],
        ['Size', formatSize(file.size)],
        [
          'Record',
          record === null
            ? html`<span class="muted">None names it</span>`
            : html`<a href=${schemaHref(project.id, record.schemaId, `/${record.recordId}`)}>${record.schemaName}</a>`,
        ],
        ['Stored', time(file.updatedAt)],
        ['SHA-256', html`<code>${file.sha256}</code>`],
      ])}
      ${copyable({ label: 'Key', text: file.key })}
      ${copyable({ label: 'Address, where a rule serves it', text: file.url })}
    `,
  )

/** Media load as downloads in which nothing runs, and everything else is text. */
function content({ project, detail: { file, shown } }: FilePageProps): Html {
  const href = contentHref(project.id, file.id)
  const name = downloadName(file.path)
  if (shown === null)
    return html`<p class="muted">This is neither text nor a picture, or too large to show here. <a href=${href}>Download it</a></p>`
  if (shown.kind === 'image') return html`<img class="preview-image" src=${href} alt=${name} />`
  if (shown.kind === 'audio')
    return html`<audio controls preload="metadata" src=${href} aria-label=${name}></audio>`
  if (shown.kind === 'video')
    return html`<video class="preview-image" controls preload="metadata" src=${href} aria-label=${name}></video>`
  if (shown.text === '') return html`<p class="muted">The file is empty.</p>`
  return html`<pre class="preview" tabindex="0" role="group" aria-label="Content"><code>${shown.text}</code></pre>`
}

const removal = ({ detail: { file }, failed }: FilePageProps): Html =>
  card(
    { id: 'removal', title: 'Delete' },
    html`
      ${formError(failed?.error)}
      ${confirmDialog(
        {
          id: 'delete-file',
          opener: 'Delete this file',
          openerKind: 'danger',
          title: `Delete ${downloadName(file.path)}?`,
          text: `1 file with ${formatSize(file.size)} is deleted. A record that names it stays. This cannot be undone.`,
          confirm: 'Delete the file',
        },
        hidden('intent', 'delete'),
      )}
    `,
  )
