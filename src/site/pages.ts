/** The pages that a site host shows on the service's own behalf; the front door brings them. */
export type SitePages = {
  notFound(): Response
  /** For whoever may not know that a site is there: the same as where none is. */
  hidden(host: string): Response
  forbidden(props: { email: string; siteHost: string; adminUrl: string }): Response
}
