import { AppError } from '../domain/errors.ts'
import { acceptsHtml } from '../http/accepts-html.ts'
import type { Arrival } from '../http/arrival.ts'
import { errorResponse } from '../http/error-response.ts'

/** The service's own pages on a site host, provided by the front door. */
export type SitePages = {
  notFound(path: string): Response
  /** For visitors who may not know that a site exists: identical to the page of a host without one, for every path. */
  hidden(host: string, arrival: Arrival): Response
  forbidden(props: { email: string; siteHost: string; adminUrl: string }): Response
}

/** The response for anything that does not exist or that the caller may not know about: the two must be identical. */
export function notFound(pages: SitePages, { request, mount, path }: Arrival): Response {
  return acceptsHtml(request) ? pages.notFound(`${mount}${path}`) : plainNotFound()
}

/** The same without a page, whatever the request accepts. */
export const plainNotFound = (): Response =>
  errorResponse(new AppError('not_found', 'There is nothing at this address'))
