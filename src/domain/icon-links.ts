import { plainPath } from './plain-path.ts'

/** So much of a start page is looked at. */
export const ICON_BYTES = 64 * 1024

/**
 * The plain paths, with their slash, of the icons that a start page names and that lie on its own host, in its order.
 * `rel` may hold several words. contract 17.2.
 */
export function iconPaths(page: ArrayBuffer): string[] {
  const paths: string[] = []
  new HTMLRewriter()
    .on('link[rel~="icon" i]', {
      element(link) {
        const path = pathOf(link.getAttribute('href'))
        if (path !== null) paths.push(path)
      },
    })
    .transform(page)
  return paths
}

const HOST = 'http://site.invalid'

function pathOf(href: string | null): string | null {
  const url = href === null ? null : URL.parse(href.replaceAll('&amp;', '&'), `${HOST}/`)
  return url?.origin === HOST ? plainPath(url.pathname) : null
}
