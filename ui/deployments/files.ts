import { cacheControlOf } from '../../src/domain/cache-control.ts'
import { deploymentName } from '../../src/domain/deployment-name.ts'
import type { FileDetail, Folder, FolderEntry } from '../../src/modules/deployments/browse.ts'
import type { DeploymentView } from '../../src/modules/deployments/service.ts'
import { linkButton } from '../components/button.ts'
import { card } from '../components/card.ts'
import { details } from '../components/details.ts'
import { emptyState } from '../components/empty-state.ts'
import { type Html, html } from '../components/html.ts'
import { icon } from '../components/icon.ts'
import { formatSize } from '../components/size.ts'
import { type Column, table } from '../components/table.ts'
import { type ProjectPageBase, projectFrame, projectHref } from '../frame/project-frame.ts'
import { queryText } from '../frame/project-request.ts'
import { deploymentHref } from './deployment-table.ts'
import type { Piece } from './highlight-language.ts'

type Base = ProjectPageBase & { deployment: DeploymentView }

/** `path` is empty for the top folder and ends in `/` for any other. */
type FolderPageProps = Base & { path: string; folder: Folder }

export const folderPage = (props: FolderPageProps): Html =>
  frame(
    props,
    props.path,
    props.folder.total === 0
      ? emptyState({ icon: 'folder', title: 'Nothing here', text: 'This deployment has no such folder.' })
      : html`
          ${table<FolderEntry>({
            caption: 'Files',
            rows: [...props.folder.folders, ...props.folder.files],
            columns: columns(props),
          })}
          ${
            props.folder.total > 1000 &&
            html`<p class="muted">The first 1000 of ${props.folder.total} are shown.</p>`
          }
        `,
  )

/** `pieces`: the highlighted text; null if it is shown plain. */
type FilePageProps = Base & { file: FileDetail; rawUrl: string; pieces: readonly Piece[] | null }

/** One file: its type, how it is served, and its content if that is text or an image. */
export const filePage = (props: FilePageProps): Html => {
  const { file } = props
  return frame(
    props,
    file.path,
    html`
      ${card(
        {
          id: 'facts',
          title: 'How it is served',
          aside: linkButton({ label: 'Open', href: props.rawUrl, kind: 'secondary', small: true }),
        },
        details([
          ['Type', file.mimeType],
          ['Size', formatSize(file.sizeBytes)],
          ['Cache-Control', html`<code>${file.cacheControl}</code>`],
          ['SHA-256', html`<code>${file.sha256}</code>`],
        ]),
      )}
      ${card({ id: 'content', title: 'Content' }, content(props))}
    `,
  )
}

function content({ file, rawUrl, pieces }: FilePageProps): Html {
  if (file.mimeType.startsWith('image/'))
    return html`<img class="preview-image" src=${rawUrl} alt=${file.path} />`
  if (file.text === null)
    return html`<p class="muted">This is not a text file, or it is too large to show here. <a href=${rawUrl}>Open the file</a></p>`
  if (file.text === '') return html`<p class="muted">The file is empty.</p>`
  return html`<pre class="preview" tabindex="0" role="group" aria-label="Content"><code>${
    pieces?.map(coloured) ?? file.text
  }</code></pre>`
}

const coloured = ({ text, kind }: Piece) =>
  kind === null ? text : html`<span class=${`hl-${kind}`}>${text}</span>`

const frame = (props: Base, path: string, body: Html): Html =>
  projectFrame(
    props,
    {
      tab: 'deployments',
      title: path === '' ? 'Files' : nameOf(path),
      crumbs: [
        { label: 'Deployments', href: projectHref(props.project.id, '/deployments') },
        {
          label: deploymentName(props.deployment),
          href: deploymentHref(props.project.id, props.deployment.number),
        },
      ],
      about: html`<nav class="path" aria-label="Folders">${pathLinks(props, path)}</nav>`,
    },
    body,
  )

const nameOf = (path: string): string => path.replace(/\/$/, '').split('/').at(-1) ?? path

const fileHref = ({ project, deployment }: Base, path: string): string =>
  deploymentHref(project.id, deployment.number, '/files') + queryText({ path })

/** Links to each parent folder; the last part is this page. */
function pathLinks(base: Base, path: string): Html[] {
  const parts = path.replace(/\/$/, '').split('/').filter(Boolean)
  return [
    html`<a href=${fileHref(base, '')}>#${base.deployment.number}</a>`,
    ...parts.map((part, at) => {
      const isLast = at === parts.length - 1
      const target = `${parts.slice(0, at + 1).join('/')}/`
      return isLast ? html` / <span>${part}</span>` : html` / <a href=${fileHref(base, target)}>${part}</a>`
    }),
  ]
}

const columns = (props: FolderPageProps): Column<FolderEntry>[] => [
  {
    label: 'Name',
    cell: (entry) => html`
      <a class="file" href=${fileHref(props, entry.path)}>
        ${icon(entry.name.endsWith('/') ? 'folder' : 'file')}<span>${entry.name}</span>
      </a>
    `,
  },
  {
    label: 'Type',
    cell: (entry) =>
      entry.name.endsWith('/')
        ? html`<span class="muted">Folder, ${entry.fileCount} ${entry.fileCount === 1 ? 'file' : 'files'}</span>`
        : entry.mimeType,
  },
  {
    label: 'Cache-Control',
    cell: (entry) =>
      entry.name.endsWith('/')
        ? ''
        : html`<code class="small">${cacheControlOf(entry.path, props.project.isPublic)}</code>`,
  },
  { label: 'Size', align: 'end', cell: (entry) => formatSize(entry.sizeBytes) },
]
