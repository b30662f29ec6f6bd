import type { FileSides } from '../../src/modules/compare/service.ts'
import type { DeploymentView } from '../../src/modules/deployments/service.ts'
import { card } from '../components/card.ts'
import { formatCount } from '../components/chart.ts'
import { details } from '../components/details.ts'
import { type Html, html } from '../components/html.ts'
import { formatSize } from '../components/size.ts'
import { type ProjectPageBase, projectFrame, projectHref } from '../frame/project-frame.ts'
import { queryText } from '../frame/project-request.ts'
import { changesTable, linesOfChange } from './changes-table.ts'
import { compareFileHref, compareHref } from './compare-href.ts'
import { type Chosen, compareTitle } from './comparison-page.ts'
import { MAX_LINES, type View } from './view.ts'

export type FilePageProps = ProjectPageBase & {
  from: DeploymentView
  to: DeploymentView
  chosen: Chosen
  file: FileSides
  view: View
}

/** What changed in one file: lines, pictures, or sizes and types. */
export const compareFilePage = (props: FilePageProps): Html => {
  const { project, from, to, chosen, file } = props
  return projectFrame(
    props,
    {
      tab: 'deployments',
      title: file.path,
      crumbs: [
        { label: 'Deployments', href: projectHref(project.id, '/deployments') },
        { label: compareTitle(from, to), href: compareHref(project.id, chosen) },
      ],
      about: html`<p class="muted">${whatHappened(file)}</p>`,
    },
    html`${isImage(file) && images(props)} ${file.hunks.length > 0 && changes(props)} ${facts(props)}`,
  )
}

const isImage = ({ mimeType }: FileSides): boolean => mimeType.startsWith('image/')

function whatHappened({ kind, fromPath }: FileSides): string {
  if (kind === 'moved') return `Moved from ${fromPath}; its content is the same.`
  return { added: 'Added.', changed: 'Changed.', removed: 'Removed.', unchanged: 'The same in both.' }[kind]
}

function changes(props: FilePageProps): Html {
  const { file, view } = props
  return card(
    { id: 'lines', title: 'What changed', aside: viewLinks(props) },
    html`
      ${changesTable(file.hunks, view)}
      ${
        linesOfChange(file.hunks) > MAX_LINES &&
        html`<p class="muted">The first ${formatCount(MAX_LINES)} lines are shown. The patch below has all.</p>`
      }
    `,
  )
}

const viewLinks = ({ project, chosen, file, view }: FilePageProps): Html => {
  const link = (name: View, label: string) => html`
    <a
      class="btn btn-secondary btn-small"
      href=${compareFileHref(project.id, chosen, file.path, name)}
      aria-current=${view === name ? 'true' : undefined}
    >${label}</a>
  `
  return html`
    <div class="actions" role="group" aria-label="View">${link('unified', 'Unified')} ${link('split', 'Side by side')}</div>
  `
}

const images = (props: FilePageProps): Html => html`
  <div class="compare-images">
    ${props.file.from && figure('before', 'Before', contentHref(props.from, props.file.from.path), props.file.from.size)}
    ${props.file.to && figure('after', 'After', contentHref(props.to, props.file.to.path), props.file.to.size)}
  </div>
`

const figure = (id: string, label: string, src: string, size: number): Html => html`
  <figure class="card" aria-labelledby=${`image-${id}`}>
    <figcaption><span id=${`image-${id}`}>${label}</span> <span class="muted small">${formatSize(size)}</span></figcaption>
    <img class="preview-image" src=${src} alt=${label} />
  </figure>
`

const contentHref = ({ id }: DeploymentView, path: string): string =>
  `/api/deployments/${id}/content${queryText({ path })}`

function facts({ from, to, file }: FilePageProps): Html {
  const side = (deployment: DeploymentView, one: FileSides['to']) =>
    one === null
      ? 'No such file'
      : html`${formatSize(one.size)} <a href=${contentHref(deployment, one.path)} download=${nameOf(one.path)}>Download</a>`
  const patch = `/api/deployments/${to.id}/compare/file${queryText({ with: from.id, path: file.path, format: 'patch' })}`
  const hasPatch = file.kind !== 'unchanged' && (file.kind === 'moved' || !file.tooLarge)
  return card(
    { id: 'facts', title: 'Both sides' },
    html`
      ${
        file.tooLarge &&
        html`<p>It is too large to be compared line by line: a side has more than 1 MiB or 20,000 lines.</p>`
      }
      ${!file.isText && !isImage(file) && html`<p>It is no text, so there are no lines to show.</p>`}
      ${details([
        ['Before', side(from, file.from)],
        ['After', side(to, file.to)],
        ['Type', file.mimeType],
        [
          'Patch',
          hasPatch && html`<a href=${patch} download=${`${nameOf(file.path)}.patch`}>For patch -p1</a>`,
        ],
      ])}
    `,
  )
}

const nameOf = (path: string): string => path.split('/').at(-1) ?? path
