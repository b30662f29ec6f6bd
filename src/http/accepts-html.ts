/** Whether a person may be looking: browsers send `text/html` when they navigate to a page, programs do not. */
export function acceptsHtml(request: Request): boolean {
  const accept = request.headers.get('accept')
  return accept !== null && HTML.test(accept)
}

/** By name, as scripts accept anything too; and not with the weight 0, which refuses it. */
const HTML = /(text\/html|application\/xhtml\+xml)(?![^,]*;\s*q=0(\.0*)?\s*(,|$))/i
