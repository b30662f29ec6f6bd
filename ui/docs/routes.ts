import { Elysia } from 'elysia'
import { decideConditional } from '../../src/domain/http-conditions.ts'
import {
  documentHref,
  findDocumentFile,
  getDocument,
  listDocuments,
  searchDocuments,
} from '../../src/modules/docs/service.ts'
import { type Html, renderPage, safePage } from '../components/html.ts'
import { queryOf } from '../frame/page-request.ts'
import { themeOf } from '../frame/theme.ts'
import { documentPage } from './document.ts'
import { documentsPage } from './documents.ts'

/** The documents, for everybody who reaches the admin host. contract 17.11. */
export const docsPages = () =>
  new Elysia()
    .get('/docs', async ({ request }) => documentList(request))
    .get('/docs/search.json', async ({ request }) => {
      const found = await searchDocuments(queryOf(request, 'q') ?? '')
      const results = found.map(({ id, ...rest }) => ({ ...rest, href: documentHref(rest.page, id) }))
      return tagged(request, JSON.stringify({ results }), {
        'content-type': 'application/json; charset=utf-8',
      })
    })
    .get('/docs/*', ({ request, params }) => answerFor(request, params['*'] ?? ''))

async function documentList(request: Request): Promise<Response> {
  const query = queryOf(request, 'q')
  const found = query === undefined ? undefined : { query, results: await searchDocuments(query) }
  return shown(request, documentsPage(await listDocuments(), found))
}

async function answerFor(request: Request, path: string): Promise<Response> {
  const file = findDocumentFile(path)
  if (file !== undefined) return fileAnswer(request, path, file)
  if (path === '') return documentList(request)
  if (!path.endsWith('.md'))
    return shown(request, documentPage(await getDocument(path), await listDocuments()))
  const { source } = await getDocument(path.slice(0, -'.md'.length))
  return tagged(request, source, { 'content-type': 'text/markdown; charset=utf-8' })
}

async function fileAnswer(request: Request, path: string, file: string): Promise<Response> {
  const type = TYPES[path.slice(path.lastIndexOf('.'))] ?? 'text/plain; charset=utf-8'
  return tagged(request, await Bun.file(file).bytes(), { 'content-type': type, ...FILE_HEADERS })
}

const TYPES: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.svg': 'image/svg+xml; charset=utf-8',
}

/** A picture that is opened by itself runs nothing. */
const FILE_HEADERS = { 'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox" }

/** A page is the same for everybody with the same theme, and changes only with the version. */
function shown(request: Request, document: Html): Response {
  return tagged(request, renderPage(document), safePage, themeOf(request) ?? '')
}

function tagged(
  request: Request,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string>,
  variant = '',
): Response {
  const hash = new Bun.CryptoHasher('sha256').update(body).update(variant).digest('hex').slice(0, 16)
  const etag = `"${hash}"`
  const all = { 'x-content-type-options': 'nosniff', ...headers, 'cache-control': 'private, no-cache', etag }
  return isKnown(request, etag)
    ? new Response(null, { status: 304, headers: all })
    : new Response(body, { headers: all })
}

function isKnown({ method, headers }: Request, etag: string): boolean {
  const asked = {
    method,
    ifMatch: null,
    ifNoneMatch: headers.get('if-none-match'),
    ifModifiedSince: null,
    ifUnmodifiedSince: null,
  }
  return decideConditional(asked, { etag, lastModified: 0, shownSince: 0 }) === 'not_modified'
}
