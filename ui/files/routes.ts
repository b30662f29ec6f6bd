import { Elysia } from 'elysia'
import type { Context } from '../../src/context.ts'
import { AppError } from '../../src/domain/errors.ts'
import { lookAtFile } from '../../src/modules/files/look.ts'
import {
  browseFiles,
  deleteFile,
  deleteFolder,
  filesInAll,
  folderTotals,
  getFile,
  listFiles,
} from '../../src/modules/files/manage.ts'
import { page } from '../components/html.ts'
import { UNREAD_BODY } from '../frame/form.ts'
import { queryOf } from '../frame/page-request.ts'
import {
  type Doing,
  doneNotice,
  type Failed,
  type Looking,
  lookAt,
  submitProjectForm,
} from '../frame/project-request.ts'
import { storedFilePage } from './file.ts'
import { filesHref, filesPage, foundFilesPage } from './files.ts'

/** The files of a project: folders, search, one file, deletion. */
export const filePages = (ctx: Context) =>
  new Elysia()
    .get('/projects/:id/files', ({ request, params }) => showFiles(ctx, request, params.id))
    .post('/projects/:id/files', ({ request, params }) => submitFiles(ctx, request, params.id), UNREAD_BODY)
    .get('/projects/:id/files/:fileId', ({ request, params }) => showFile(ctx, request, params))
    .post(
      '/projects/:id/files/:fileId',
      ({ request, params }) => submitFile(ctx, request, params),
      UNREAD_BODY,
    )

const PER_PAGE = 100
const DONE = { deleted: 'The file was deleted.', 'deleted-folder': 'The folder was deleted.' }

function showFiles(ctx: Context, request: Request, id: string, failed?: Failed): Response {
  const looking = lookAt(ctx, request, id)
  const prefix = queryOf(request, 'prefix') ?? ''
  return prefix === '' ? showFolder(ctx, request, looking, failed) : showFound(ctx, request, looking, prefix)
}

function showFound(ctx: Context, request: Request, looking: Looking, prefix: string): Response {
  const asked = { prefix, limit: PER_PAGE }
  const first = listFiles(ctx, looking.grant, asked)
  const at = pageIn(request, first.pagination.pages)
  const { data: files, pagination } = at === 1 ? first : listFiles(ctx, looking.grant, { ...asked, page: at })
  return page(foundFilesPage({ ...looking, prefix, files, pages: pagination }))
}

function showFolder(ctx: Context, request: Request, looking: Looking, failed?: Failed): Response {
  const { grant } = looking
  const path = queryOf(request, 'path') ?? ''
  const list = (at: number) => browseFiles(ctx, grant, path, { limit: PER_PAGE, offset: (at - 1) * PER_PAGE })
  const first = list(1)
  const pages = Math.max(1, Math.ceil(first.total / PER_PAGE))
  const at = pageIn(request, pages)
  const { folder, entries } = at === 1 ? first : list(at)
  return page(
    filesPage({
      ...looking,
      folder,
      entries,
      inAll: path === '' ? filesInAll(ctx, grant) : folderTotals(ctx, grant, path),
      pages: { page: at, pages, total: first.total },
      notices: doneNotice(request, DONE),
      failed,
    }),
    failed?.error.status,
  )
}

/** A page after the last is the last: files may have been deleted. */
function pageIn(request: Request, pages: number): number {
  const asked = Number(queryOf(request, 'page') ?? 1)
  return Number.isInteger(asked) ? Math.max(1, Math.min(asked, pages)) : 1
}

const submitFiles = (ctx: Context, request: Request, id: string) =>
  submitProjectForm(ctx, request, {
    projectId: id,
    action: 'traffic:configure',
    intents: {
      'delete-folder': {
        isOnce: true,
        run: (doing) => removeFolder(ctx, id, queryOf(request, 'path') ?? '', doing),
      },
    },
    show: (failed) => showFiles(ctx, request, id, failed),
  })

/** Only as many as the page said. */
async function removeFolder(ctx: Context, id: string, path: string, { grant, form }: Doing): Promise<string> {
  const { prefix, files } = folderTotals(ctx, grant, path)
  if (form.text('files') !== String(files))
    throw new AppError('conflict', `Meanwhile the folder has another number of files: ${files}. Look again.`)
  await deleteFolder(ctx, grant, prefix)
  const above = prefix.includes('/') ? prefix.slice(0, prefix.lastIndexOf('/')) : ''
  return done(filesHref(id, above), 'deleted-folder')
}

type Place = { id: string; fileId: string }

async function showFile(ctx: Context, request: Request, place: Place, failed?: Failed): Promise<Response> {
  const looking = lookAt(ctx, request, place.id)
  const detail = await lookAtFile(ctx, looking.grant, place.fileId)
  return page(storedFilePage({ ...looking, detail, failed }), failed?.error.status)
}

const submitFile = (ctx: Context, request: Request, place: Place) =>
  submitProjectForm(ctx, request, {
    projectId: place.id,
    action: 'traffic:configure',
    intents: {
      delete: {
        isLast: true,
        async run({ grant }) {
          const { path } = getFile(ctx, grant, place.fileId)
          await deleteFile(ctx, grant, place.fileId)
          const folder = path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : ''
          return done(filesHref(place.id, folder), 'deleted')
        },
      },
    },
    show: (failed) => showFile(ctx, request, place, failed),
  })

const done = (href: string, what: keyof typeof DONE): string =>
  `${href}${href.includes('?') ? '&' : '?'}done=${what}`
