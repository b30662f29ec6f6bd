import { aggregateRunner } from './handlers/aggregate.ts'
import { aiRunner } from './handlers/ai.ts'
import { dataCreateRunner } from './handlers/data-create.ts'
import { dataDeleteRunner } from './handlers/data-delete.ts'
import { dataQueryRunner } from './handlers/data-query.ts'
import { dataUpdateRunner } from './handlers/data-update.ts'
import { dataUpsertManyRunner } from './handlers/data-upsert-many.ts'
import { emailRunner } from './handlers/email.ts'
import { fileDeleteRunner } from './handlers/file-delete.ts'
import { fileServeRunner } from './handlers/file-serve.ts'
import { fileUploadRunner } from './handlers/file-upload.ts'
import { formRunner } from './handlers/form.ts'
import { functionRunner } from './handlers/function.ts'
import { httpRequestRunner } from './handlers/http-request.ts'
import { mcpRunner } from './handlers/mcp.ts'
import { oauthProtectedResourceRunner } from './handlers/oauth-protected-resource.ts'
import { presignedUploadRunner } from './handlers/presigned-upload.ts'
import { registerUploadRunner } from './handlers/register-upload.ts'
import { responseRunner } from './handlers/response.ts'
import { signedUrlRunner } from './handlers/signed-url.ts'
import { xmlFeedParseRunner } from './handlers/xml-feed-parse.ts'
import type { HandlerName } from './language/registry.ts'
import type { Runner } from './runner.ts'

/** How the steps of each handler run, by its preferred name. */
export const RUNNERS: Readonly<Record<HandlerName, Runner>> = {
  form_handler: formRunner,
  data_create: dataCreateRunner,
  data_query: dataQueryRunner,
  data_update: dataUpdateRunner,
  data_delete: dataDeleteRunner,
  data_upsert_many: dataUpsertManyRunner,
  aggregate_handler: aggregateRunner,
  function_handler: functionRunner,
  http_request: httpRequestRunner,
  xml_feed_parse: xmlFeedParseRunner,
  email_handler: emailRunner,
  response_handler: responseRunner,
  file_upload_handler: fileUploadRunner,
  presigned_upload: presignedUploadRunner,
  register_upload: registerUploadRunner,
  file_serve_handler: fileServeRunner,
  signed_url: signedUrlRunner,
  file_delete: fileDeleteRunner,
  ai_handler: aiRunner,
  mcp_handler: mcpRunner,
  oauth_protected_resource: oauthProtectedResourceRunner,
}
