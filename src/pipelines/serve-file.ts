import type { Context } from '../context.ts'
import type { StoredFile } from '../modules/files/service.ts'

/** What the site's engine answers a request for a file of the project with. contract 14.3, Serving. */
export type ServeFile = (
  ctx: Context,
  request: Request,
  file: StoredFile,
  how: { cacheControl: string; allowScripts?: boolean },
) => Response | Promise<Response>
