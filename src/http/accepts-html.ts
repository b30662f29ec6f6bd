/** Whether a person may be looking: browsers send `text/html` when they navigate to a page, programs do not. */
export function acceptsHtml(request: Request): boolean {
  const accept = request.headers.get('accept')
  return accept !== null && /text\/html|application\/xhtml\+xml/i.test(accept)
}
