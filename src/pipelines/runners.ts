import { aggregateRunner } from './handlers/aggregate.ts'
import { dataCreateRunner } from './handlers/data-create.ts'
import { dataDeleteRunner } from './handlers/data-delete.ts'
import { dataQueryRunner } from './handlers/data-query.ts'
import { dataUpdateRunner } from './handlers/data-update.ts'
import { dataUpsertManyRunner } from './handlers/data-upsert-many.ts'
import { emailRunner } from './handlers/email.ts'
import { formRunner } from './handlers/form.ts'
import { functionRunner } from './handlers/function.ts'
import { httpRequestRunner } from './handlers/http-request.ts'
import { responseRunner } from './handlers/response.ts'
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
}
