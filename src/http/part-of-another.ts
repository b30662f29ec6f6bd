/**
 * Whether a page of another origin embeds this as a subresource: a script, a picture, a style, an `<object>`. The
 * visitor's cookies are sent between the sites of a workspace, so such a page could run the response, or learn from
 * whether it loads what the visitor may see. `fetch` with CORS and frames do not count. Old browsers do not send these
 * headers.
 */
export function isPartOfAnother({ headers }: Request): boolean {
  const site = headers.get('sec-fetch-site')
  if (site === null || site === 'same-origin' || site === 'none') return false
  const destination = headers.get('sec-fetch-dest')
  return headers.get('sec-fetch-mode') === 'no-cors' || destination === 'object' || destination === 'embed'
}
