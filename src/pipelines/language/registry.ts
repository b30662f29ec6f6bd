import type { Handler } from './handler.ts'
import { aggregateHandler } from './handlers/aggregate.ts'
import { aiHandler } from './handlers/ai.ts'
import { dataCreateHandler } from './handlers/data-create.ts'
import { dataDeleteHandler } from './handlers/data-delete.ts'
import { dataQueryHandler } from './handlers/data-query.ts'
import { dataUpdateHandler } from './handlers/data-update.ts'
import { dataUpsertManyHandler } from './handlers/data-upsert-many.ts'
import { emailHandler } from './handlers/email.ts'
import { fileDeleteHandler } from './handlers/file-delete.ts'
import { fileServeHandler } from './handlers/file-serve.ts'
import { fileUploadHandler } from './handlers/file-upload.ts'
import { formHandler } from './handlers/form.ts'
import { functionHandler } from './handlers/function.ts'
import { httpRequestHandler } from './handlers/http-request.ts'
import { mcpHandler } from './handlers/mcp.ts'
import { oauthProtectedResourceHandler } from './handlers/oauth-protected-resource.ts'
import { presignedUploadHandler } from './handlers/presigned-upload.ts'
import { registerUploadHandler } from './handlers/register-upload.ts'
import { responseHandler } from './handlers/response.ts'
import { signedUrlHandler } from './handlers/signed-url.ts'
import { xmlFeedParseHandler } from './handlers/xml-feed-parse.ts'

/**
 * Every handler of this version. To add one, add a file in `handlers/` and a line here; then the same in `pipelines/`,
 * for how it runs.
 */
const DECLARED = [
  formHandler,
  dataCreateHandler,
  dataQueryHandler,
  dataUpdateHandler,
  dataDeleteHandler,
  dataUpsertManyHandler,
  aggregateHandler,
  functionHandler,
  httpRequestHandler,
  xmlFeedParseHandler,
  emailHandler,
  responseHandler,
  fileUploadHandler,
  presignedUploadHandler,
  registerUploadHandler,
  fileServeHandler,
  signedUrlHandler,
  fileDeleteHandler,
  aiHandler,
  mcpHandler,
  oauthProtectedResourceHandler,
] as const

/** The preferred name of a handler. */
export type HandlerName = (typeof DECLARED)[number]['names'][0]
export type KnownHandler = Handler<HandlerName>

export const HANDLERS: readonly KnownHandler[] = DECLARED

const byName = new Map(HANDLERS.flatMap((handler) => handler.names.map((name) => [name, handler] as const)))

export const findHandler = (name: string): KnownHandler | undefined => byName.get(name)

/** For `unknown handler` messages. */
export const handlerNames = (): string[] => [...byName.keys()]

/** The manual's section on handlers, in Markdown: a heading for each handler, a line for each key. */
export function handlerDocs(): string {
  return HANDLERS.map(({ names: [name, ...others], summary, result, config }) => {
    const also = others.length === 0 ? '' : ` (also \`${others.join('`, `')}\`)`
    const lines = configKeys(config).map(([key, text]) => `- \`${key}\`: ${text}`)
    return [`### \`${name}\`${also}`, '', summary, '', ...lines, '', `Output: ${result}`].join('\n')
  }).join('\n\n')
}

/** The keys of a configuration with their descriptions. */
function configKeys(config: Handler['config']): [string, string][] {
  const properties: Record<string, { description?: string }> =
    'properties' in config ? (config.properties as Record<string, { description?: string }>) : {}
  const required = 'required' in config ? (config.required as readonly string[]) : []
  return Object.entries(properties).map(([key, { description = '' }]) => [
    key,
    required.includes(key) ? `${description} (required)` : description,
  ])
}
