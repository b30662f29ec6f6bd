/**
 * Whether a page of another origin takes this in as a part of itself: a script, a picture, a style, an `<object>`. The
 * visitor's cookies come along between the sites of a workspace, and such a page may run what it gets, or tell by whether
 * it loads what the visitor may see. Calls by `fetch` that ask (CORS) and frames are no parts. Old browsers do not say.
 */
export function isPartOfAnother({ headers }: Request): boolean {
  const site = headers.get('sec-fetch-site')
  if (site === null || site === 'same-origin' || site === 'none') return false
  const destination = headers.get('sec-fetch-dest')
  return headers.get('sec-fetch-mode') === 'no-cors' || destination === 'object' || destination === 'embed'
}
