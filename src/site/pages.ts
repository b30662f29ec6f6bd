import { AppError } from '../domain/errors.ts'
import { acceptsHtml } from '../http/accepts-html.ts'
import { errorResponse } from '../http/error-response.ts'

/** The pages that a site host shows on the service's own behalf; the front door brings them. */
export type SitePages = {
  notFound(): Response
  /** For whoever may not know that a site is there: the same as where none is, and for each of its paths. */
  hidden(host: string): Response
  forbidden(props: { email: string; siteHost: string; adminUrl: string }): Response
}

/** The answer for what is not there, and for what the asker may not know of: the two must be the same. */
export function notFound(pages: SitePages, request: Request): Response {
  return acceptsHtml(request) ? pages.notFound() : plainNotFound()
}

/** The same where no page will do, whatever is accepted. */
export const plainNotFound = (): Response =>
  errorResponse(new AppError('not_found', 'There is nothing at this address'))
