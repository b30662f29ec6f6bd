import { swagger } from '@elysiajs/swagger'
import { Elysia } from 'elysia'
import stylePath from 'swagger-ui-dist/swagger-ui.css' with { type: 'file' }
import scriptPath from 'swagger-ui-dist/swagger-ui-bundle.js' with { type: 'file' }
import { ACCESS_COOKIE } from '../domain/cookies.ts'
import { chosenTheme } from '../domain/theme.ts'
import { contentPaths } from './content-docs.ts'
import ourStyle from './explorer.css' with { type: 'text' }
import { polishDocument } from './openapi.ts'
import { pageHeaders } from './page-headers.ts'

const PAGE = '/api/docs'
const DOCUMENT = '/api/docs/json'

/** Collects the OpenAPI document from the routes. It is served through `withExplorer`. */
export const apiDocs = (version: string) =>
  new Elysia().use(
    swagger({
      path: PAGE,
      specPath: DOCUMENT,
      excludeStaticFile: false,
      documentation: {
        info: {
          title: 'svc',
          version,
          description:
            'Publishes folders as immutable deployments and serves them. Every failure is `{ statusCode, message, error }`. [Open the admin](/)',
        },
        components: {
          securitySchemes: {
            apiKey: {
              type: 'apiKey',
              in: 'header',
              name: 'X-API-Key',
              description: 'Create one under API keys in the admin, or with `svc key create`.',
            },
            bearerKey: {
              type: 'http',
              scheme: 'bearer',
              description:
                'The same key as `Authorization: Bearer svc_…`, or the token of `svc login` (`svcp_…`). Of both, `X-API-Key` counts.',
            },
            session: {
              type: 'apiKey',
              in: 'cookie',
              name: ACCESS_COOKIE,
              description:
                'Sign in on this host: the browser then sends the session automatically, so enter nothing here.',
            },
            metrics: { type: 'http', scheme: 'bearer', description: 'METRICS_TOKEN, for `/metrics` only.' },
          },
        },
        security: [{ apiKey: [] }, { bearerKey: [] }, { session: [] }],
      },
    }),
  )

/** The part of an Elysia app that the explorer needs. */
type Api = {
  handle(request: Request): Promise<Response>
  routes: readonly { method: string; path: string }[]
}

type LoadSchemas = () => Promise<Record<string, unknown>>

/**
 * The API with its explorer at `/api/docs` and the OpenAPI document at `/api/docs/json`. Everything is embedded in the
 * executable, and the page may load nothing else. contract §11. `loadSchemas` returns schemas described outside the
 * routes.
 */
export function withExplorer(api: Api, loadSchemas: LoadSchemas): Api {
  let document: Promise<Response> | undefined
  const showDocument = async (request: Request): Promise<Response> => {
    document ??= documentOf(api, request, loadSchemas)
    return (await document).clone()
  }
  const answers = new Map<string, (request: Request) => Response | Promise<Response>>([
    [PAGE, pageAnswer],
    [`${PAGE}/`, pageAnswer],
    [DOCUMENT, showDocument],
    [`${DOCUMENT}/`, showDocument],
    [`${PAGE}/explorer.js`, fileAnswer(scriptPath, 'text/javascript; charset=utf-8')],
    [`${PAGE}/explorer.css`, fileAnswer(stylePath, 'text/css; charset=utf-8')],
    [`${PAGE}/ours.css`, () => new Response(ourStyle, { headers: STYLE_HEADERS })],
    [`${PAGE}/start.js`, () => new Response(START_SCRIPT, { headers: SCRIPT_HEADERS })],
  ])
  return {
    routes: [...api.routes, ...[...answers.keys()].map((path) => ({ method: 'GET', path }))],
    handle(request) {
      const answer = answers.get(new URL(request.url).pathname)
      return answer === undefined ? api.handle(request) : Promise.resolve(answer(request))
    },
  }
}

async function documentOf(api: Api, request: Request, loadSchemas: LoadSchemas): Promise<Response> {
  const answer = await api.handle(new Request(new URL(DOCUMENT, request.url)))
  const generated: { paths: object } = await answer.json()
  const whole = { ...generated, paths: { ...generated.paths, ...contentPaths } }
  return Response.json(polishDocument(whole, await loadSchemas()))
}

/** Whether the path belongs to the explorer, which exists only on the admin host. */
export const isExplorerPath = (path: string): boolean => path === PAGE || path.startsWith(`${PAGE}/`)

/** A text, because it names the address of the document. */
const START_SCRIPT = `SwaggerUIBundle({
  url: '${DOCUMENT}',
  domNode: document.getElementById('explorer'),
  validatorUrl: null,
  filter: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: -1,
  displayRequestDuration: true,
  tryItOutEnabled: true,
})
const { classList, dataset } = document.documentElement
const isDark = matchMedia('(prefers-color-scheme: dark)').matches
classList.toggle('dark-mode', dataset.theme === undefined ? isDark : dataset.theme === 'dark')

// Controls that have no name, or one that is not what they show. WCAG 2.5.3, 4.1.2
const NAMES = [
  ['.body-param__text', 'Request body'],
  ['.close-modal', 'Close this dialog'],
  ['[aria-label="Apply credentials"]', 'Authorize with these credentials'],
  ['[aria-label="Remove authorization"]', 'Logout from these credentials'],
]
const mend = () => {
  for (const [selector, label] of NAMES)
    for (const control of document.querySelectorAll(selector)) control.setAttribute('aria-label', label)
  // On a phone code is wider than its box, which keys can only scroll where they can reach it. WCAG 2.1.1
  for (const code of document.querySelectorAll('pre.microlight')) code.tabIndex = 0
}
new MutationObserver(mend).observe(document.getElementById('explorer'), { childList: true, subtree: true })
`

const PAGE_HTML = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>API explorer · svc</title>
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="robots" content="noindex">
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="${PAGE}/explorer.css">
    <link rel="stylesheet" href="${PAGE}/ours.css">
  </head>
  <body>
    <noscript>The explorer needs scripts. The same as a document: <a href="${DOCUMENT}">${DOCUMENT}</a></noscript>
    <div id="explorer"></div>
    <script src="${PAGE}/explorer.js"></script>
    <script src="${PAGE}/start.js"></script>
  </body>
</html>
`

function pageAnswer({ headers }: Request): Response {
  const theme = chosenTheme(headers.get('cookie'))
  const html = theme === undefined ? PAGE_HTML : PAGE_HTML.replace('<html ', `<html data-theme="${theme}" `)
  return new Response(html, { headers: PAGE_HEADERS })
}

const PAGE_HEADERS = pageHeaders("form-action 'none'")

const STYLE_HEADERS = { 'content-type': 'text/css; charset=utf-8', 'cache-control': 'no-cache' }
const SCRIPT_HEADERS = { 'content-type': 'text/javascript; charset=utf-8', 'cache-control': 'no-cache' }

/** An embedded file, compressed on first use; it changes only with the version. */
function fileAnswer(path: string, contentType: string): (request: Request) => Promise<Response> {
  let packed: Promise<{ body: Uint8Array<ArrayBuffer>; etag: string }> | undefined
  return async (request) => {
    packed ??= pack(path)
    const { body, etag } = await packed
    const headers = {
      'content-type': contentType,
      'cache-control': 'no-cache',
      vary: 'accept-encoding',
      etag,
    }
    if (request.headers.get('if-none-match') === etag) return new Response(null, { status: 304, headers })
    if (!request.headers.get('accept-encoding')?.includes('gzip'))
      return new Response(Bun.file(path), { headers })
    return new Response(body, { headers: { ...headers, 'content-encoding': 'gzip' } })
  }
}

async function pack(path: string): Promise<{ body: Uint8Array<ArrayBuffer>; etag: string }> {
  const body = Bun.gzipSync(await Bun.file(path).bytes())
  return { body, etag: `"${new Bun.CryptoHasher('sha256').update(body).digest('hex').slice(0, 16)}"` }
}
