/** Whether a person may be looking: browsers name `text/html` when they go to a page, programs do not. */
export function acceptsHtml(request: Request): boolean {
  const accept = request.headers.get('accept')
  return accept !== null && /text\/html|application\/xhtml\+xml/i.test(accept)
}
