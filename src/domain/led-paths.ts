/**
 * Leads the paths of a page that begin with one `/` below `mount`, where the page is shown away from its own host. `mount`
 * has no slash at its end. contract 17.2.
 */

/** Browsers take `//host` and `/\host` for another host, and blanks in front for nothing. */
export const ledUrl = (url: string, mount: string): string =>
  url.replace(/^([\t\n\f\r ]*)\/(?![/\\])/, (_, blanks: string) => `${blanks}${mount}/`)

/** The candidates of `srcset` are read as HTML does: an address goes on to the next blank, and may hold commas. */
export const ledSrcset = (srcset: string, mount: string): string =>
  srcset.replace(
    /([\t\n\f\r ,]*)([^\t\n\f\r ]+)((?:\([^)]*\)|[^,(])*,?)/g,
    (_, before: string, url: string, behind: string) => {
      const commas = /,+$/.exec(url)?.[0] ?? ''
      const rest = commas === '' ? behind : `${commas}${ledRest(behind, mount)}`
      return `${before}${ledUrl(url.slice(0, url.length - commas.length), mount)}${rest}`
    },
  )

/** A comma ends an address at once, so that what follows is the next candidate. */
const ledRest = (rest: string, mount: string): string => (rest.trim() === '' ? rest : ledSrcset(rest, mount))

/** `url()` and `@import`, in any spelling of letters. */
export const ledCss = (css: string, mount: string): string =>
  css.replace(
    /(url\([\t\n\f\r ]*["']?|@import[\t\n\f\r ]*["'])([\t\n\f\r ]*)\/(?![/\\])/gi,
    (_, before: string, blanks: string) => `${before}${blanks}${mount}/`,
  )
