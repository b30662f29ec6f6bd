const START_PAGE = 'index.html'

/**
 * The folder that a site lies in by mistake: there is no start page at the top, and the only folder there has one. Null
 * if there is none. `paths` are stored paths, so what is left out of deployments does not count. contract 12.9.
 */
export function nestedFolder(paths: Iterable<string>): string | null {
  let top: string | null = null
  let hasStartPage = false
  for (const path of paths) {
    if (path === START_PAGE) return null
    const slash = path.indexOf('/')
    if (slash < 0) continue
    const folder = path.slice(0, slash)
    if (top !== null && folder !== top) return null
    top = folder
    hasStartPage ||= path.length === slash + 1 + START_PAGE.length && path.endsWith(START_PAGE)
  }
  return hasStartPage ? top : null
}

/** The path without the folder; what does not lie in it stays where it is. */
export const withoutFolder = (path: string, folder: string): string =>
  path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path
