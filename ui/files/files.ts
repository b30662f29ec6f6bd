import { downloadName } from '../../src/modules/files/keys.ts'
import { contentHref } from '../../src/modules/files/look.ts'
import type { Entry, FileView } from '../../src/modules/files/manage.ts'
import { linkButton } from '../components/button.ts'
import { card } from '../components/card.ts'
import { formatCount } from '../components/chart.ts'
import { confirmDialog } from '../components/confirm.ts'
import { emptyState } from '../components/empty-state.ts'
import { field, formError, hidden } from '../components/field.ts'
import { type Content, type Html, html } from '../components/html.ts'
import { icon } from '../components/icon.ts'
import { pagination } from '../components/pagination.ts'
import { searchForm } from '../components/search-form.ts'
import { formatSize } from '../components/size.ts'
import { type Column, table } from '../components/table.ts'
import { time } from '../components/time.ts'
import { type ProjectPageBase, projectFrame, projectHref } from '../frame/project-frame.ts'
import { type Failed, queryText } from '../frame/project-request.ts'

type Pages = { page: number; pages: number; total: number }

/** `folder` is '' at the top and ends in a slash elsewhere; `inAll` is what is below it. */
export type FolderPageProps = ProjectPageBase & {
  folder: string
  entries: readonly Entry[]
  inAll: { files: number; bytes: number }
  pages: Pages
  failed?: Failed | undefined
}

export type SearchPageProps = ProjectPageBase & {
  prefix: string
  files: readonly FileView[]
  pages: Pages
}

export const filesHref = (projectId: string, path = ''): string =>
  projectHref(projectId, `/files${queryText({ path: path.replace(/\/$/, '') })}`)

export const fileHref = (projectId: string, fileId: string): string =>
  projectHref(projectId, `/files/${fileId}`)

/** What stands in a folder of the files of a project. Sends `intent=delete-folder`. */
export const filesPage = (props: FolderPageProps): Html =>
  frame(
    props,
    html`
      ${search(props, '')}
      ${props.inAll.files === 0 ? nothing(props) : listing(props)}
      ${props.folder !== '' && props.inAll.files > 0 && props.can.configureTraffic && removal(props)}
    `,
  )

/** Files whose path begins with a text. */
export const foundFilesPage = (props: SearchPageProps): Html =>
  frame(
    { ...props, folder: '' },
    html`
      ${search(props, props.prefix)}
      ${
        props.files.length === 0
          ? emptyState({
              icon: 'file',
              title: 'Nothing found',
              text: html`No file has a path that begins with <code>${props.prefix}</code>.`,
            })
          : html`
              ${table<FileView>({ caption: 'Files', rows: props.files, columns: foundColumns(props.project.id) })}
              ${pagination({ ...props.pages, hrefOf: (page) => searchHref(props, page) })}
            `
      }
    `,
  )

const frame = (props: ProjectPageBase & { folder: string }, body: Content): Html =>
  projectFrame(
    props,
    {
      tab: 'files',
      title: props.folder === '' ? 'Files' : (props.folder.split('/').at(-2) ?? props.folder),
      about:
        props.folder === ''
          ? html`<p class="muted">Files that visitors and pipelines stored. A rule, or a signed link, shows them to others.</p>`
          : pathLinks(props, props.folder),
    },
    body,
  )

/** Links to each folder above; the last part is this page. */
export function pathLinks({ project }: ProjectPageBase, path: string): Html {
  const parts = path.replace(/\/$/, '').split('/')
  return html`
    <nav class="path" aria-label="Folders">
      <a href=${filesHref(project.id)}>Files</a>
      ${parts.map((part, at) =>
        at === parts.length - 1
          ? html` / <span>${part}</span>`
          : html` / <a href=${filesHref(project.id, parts.slice(0, at + 1).join('/'))}>${part}</a>`,
      )}
    </nav>
  `
}

const search = ({ project }: ProjectPageBase, prefix: string): Html =>
  searchForm(
    'Find files',
    field({
      name: 'prefix',
      label: 'Path begins with',
      value: prefix,
      required: false,
      isPlain: true,
      verbatim: true,
    }),
    prefix === '' ? undefined : filesHref(project.id),
  )

const searchHref = ({ project, prefix }: SearchPageProps, page: number): string =>
  projectHref(project.id, `/files${queryText({ prefix, page })}`)

const nothing = ({ folder }: FolderPageProps): Html =>
  folder === ''
    ? emptyState({
        icon: 'file',
        title: 'No files yet',
        text: html`A pipeline takes files with the handlers <code>file_upload_handler</code> and <code>presigned_upload</code>. What
          visitors send appears here.`,
      })
    : emptyState({ icon: 'folder', title: 'Nothing here', text: 'There is no such folder, or it is empty.' })

const listing = (props: FolderPageProps): Html => html`
  <p class="muted">${sumText(props.inAll)} in all.</p>
  ${table<Entry>({ caption: 'Files', rows: props.entries, columns: columns(props) })}
  ${pagination({ ...props.pages, hrefOf: (page) => folderHref(props, page) })}
`

const folderHref = ({ project, folder }: FolderPageProps, page: number): string =>
  projectHref(project.id, `/files${queryText({ path: folder.replace(/\/$/, ''), page })}`)

const columns = ({ project, folder }: FolderPageProps): Column<Entry>[] => [
  {
    label: 'Name',
    cell: ({ id, name }) => html`
      <a class="file" href=${id === null ? filesHref(project.id, folder + name) : fileHref(project.id, id)}>
        ${icon(id === null ? 'folder' : 'file')}<span>${name}</span>
      </a>
    `,
  },
  {
    label: 'Kind',
    cell: ({ id, files }) =>
      id === null ? html`<span class="muted">Folder, ${countText(files)}</span>` : 'File',
  },
  { label: 'Size', align: 'end', cell: ({ bytes }) => formatSize(bytes) },
  {
    label: 'Download',
    hideLabel: true,
    align: 'end',
    cell: ({ id, name }) => id !== null && download(project.id, id, name),
  },
]

const foundColumns = (projectId: string): Column<FileView>[] => [
  {
    label: 'Path',
    cell: ({ id, path }) => html`
      <a class="file" href=${fileHref(projectId, id)}>${icon('file')}<span>${path}</span></a>
    `,
  },
  { label: 'Type', cell: ({ contentType }) => contentType },
  { label: 'Stored', cell: ({ updatedAt }) => time(updatedAt) },
  { label: 'Size', align: 'end', cell: ({ size }) => formatSize(size) },
  {
    label: 'Download',
    hideLabel: true,
    align: 'end',
    cell: ({ id, path }) => download(projectId, id, path),
  },
]

const download = (projectId: string, fileId: string, path: string): Html =>
  linkButton({
    label: html`Download<span class="visually-hidden"> ${downloadName(path)}</span>`,
    href: contentHref(projectId, fileId),
    kind: 'secondary',
    small: true,
  })

const removal = ({ folder, inAll, failed }: FolderPageProps): Html =>
  card(
    { id: 'removal', title: 'Delete' },
    html`
      ${formError(failed?.error)}
      ${confirmDialog(
        {
          id: 'delete-folder',
          opener: 'Delete this folder',
          openerKind: 'danger',
          title: `Delete ${folder}?`,
          text: `${sumText(inAll)} are deleted, with those in its folders. Records that name them stay. This cannot be undone.`,
          confirm: `Delete ${countText(inAll.files)}`,
        },
        html`${hidden('intent', 'delete-folder')} ${hidden('files', String(inAll.files))}`,
      )}
    `,
  )

const countText = (files: number): string => `${formatCount(files)} ${files === 1 ? 'file' : 'files'}`

export const sumText = ({ files, bytes }: { files: number; bytes: number }): string =>
  `${countText(files)} with ${formatSize(bytes)}`
